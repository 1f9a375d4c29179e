#!/usr/bin/env bash
# @peculiar/x509 2.2.0 (npm), on Node.js 20 to 26.
# Expected: a package that declares its dependencies can be imported after `npm install`, as version 1.14.3 can.
# Happens: version 2 still loads tsyringe, which throws at once unless Reflect.getMetadata exists. Version 1 brings
# reflect-metadata and loads it; version 2 neither depends on it nor declares a peer dependency, and npm says nothing.
# Its user must install reflect-metadata and import it first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

load() {
  printf '{"private":true}' > package.json
  npm install --silent --no-audit --no-fund --ignore-scripts "$@"
  node --input-type=module --eval '
    await import("reflect-metadata").catch(() => undefined);
    const { X509CertificateGenerator } = await import("@peculiar/x509");
    console.log(typeof X509CertificateGenerator);' 2>&1 | grep -oE '^function$|tsyringe requires a reflect polyfill' | head -n 1
  rm -rf node_modules package.json package-lock.json
}

one=$(load @peculiar/x509@1.14.3)
two=$(load @peculiar/x509@2.2.0)
both=$(load @peculiar/x509@2.2.0 reflect-metadata@0.2.2)
printf '1.14.3: %s\n2.2.0: %s\n2.2.0 with reflect-metadata: %s\n' "$one" "$two" "$both"
[[ $one == function && $two == 'tsyringe requires a reflect polyfill' && $both == function ]]
