// Imported first. Its syntax runs on old versions of Node.js too.
const OLDEST = [20, 19];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(
    "partner-api needs Node.js " + OLDEST.join(".") + " or newer. This is " + process.version,
  );
  process.exit(1);
}
