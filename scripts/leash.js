// Loaded into what scripts/run.js starts. Our end of its standard input closes when we are gone, even
// if we were killed, and an install that nobody waits for must not go on beside the next one.
process.stdin
  .on("end", () => process.exit(1))
  .resume()
  .unref();
