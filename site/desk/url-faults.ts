/** What a browser can say of a receiver's URL. The service checks the addresses of the host besides. Null: nothing is wrong so far. */
export function faultOfUrl(text: string): string | null {
  if (text === "") return null;
  if (/^http:\/\//i.test(text))
    return "The URL must begin with https://, because deliveries are never sent in clear text.";
  if (!/^https:\/\//i.test(text)) return "The URL must begin with https://.";
  if (text.length > 2_048) return "The URL must have at most 2,048 characters.";
  let url;
  try {
    url = new URL(text);
  } catch {
    return /^https:\/\/$/i.test(text) ? null : "This is not a URL.";
  }
  if (url.username || url.password) return "The URL must not hold a user name or a password.";
  if (url.hash) return "The URL must not have a fragment (#…): it is never sent.";
  return faultOfHost(url.hostname.replace(/\.$/, ""));
}

function faultOfHost(host: string): string | null {
  const isLocal = host === "localhost" || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
  const isPrivate =
    /^(10|127|0)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2[0-9]|3[01])\./.test(host) ||
    /^\[(::1?\]|f[cd]|fe80)/.test(host);
  if (isLocal || isPrivate) {
    return "The host must be public: we cannot reach a machine of your own network. For a laptop, use a tunnel.";
  }
  return host.includes(".") || host.startsWith("[")
    ? null
    : "The host must be a full name, such as hooks.example.com.";
}
