// Preloaded into programs that scripts/run.js starts. Standard input closes when the parent process
// ends, even if it was killed. The program then ends too, so that no orphaned install runs beside
// the next one.
process.stdin
  .on("end", () => process.exit(1))
  .resume()
  .unref();
