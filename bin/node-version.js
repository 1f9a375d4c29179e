// Imported first. Its syntax runs on old versions of Node.js too.
const OLDEST = [20, 19];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(
    "partner-api needs Node.js " + OLDEST.join(".") + " or newer. This is " + process.version,
  );
  process.exit(1);
}

// Without a compiler there is no WebAssembly, and so no HTTP client.
const options = [process.env.NODE_OPTIONS || ""].concat(process.execArgv).join(" ");
if (/--jitless(?![\w-])/.test(options)) {
  console.error("partner-api must not run with --jitless of Node.js: it cannot work then");
  process.exit(1);
}

// A fleet's wish for another driver of PostgreSQL. Ours adds to the one in JavaScript.
delete process.env.NODE_PG_FORCE_NATIVE;
