/** Returns the command that makes browsers and curl on this system trust the authority in the file. */
export function trustCommand(platform: string, caFile: string): string {
  const file = quoted(caFile);
  switch (platform) {
    case "darwin":
      return `security add-trusted-cert -r trustRoot -p ssl -k ~/Library/Keychains/login.keychain-db ${file}`;
    case "win32":
      return `certutil -user -addstore Root "${caFile}"`;
    default:
      // curl reads the system's authorities. Browsers read the user's database, which certutil of libnss3-tools writes.
      return (
        `sudo cp ${file} /usr/local/share/ca-certificates/partner-api-local.crt && sudo update-ca-certificates; ` +
        `mkdir -p ~/.pki/nssdb && certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n partner-api-local -i ${file}`
      );
  }
}

/** A path as a word of a shell. */
export function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
