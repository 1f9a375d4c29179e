#!/usr/bin/env bash
# Writes a detached partition of history to a compressed CSV file, for EXPORT_COMMAND:
#
#   export-history.sh public.events_20261101_000000_expired
#
# libpq's variables name the database. EXPORT_FOLDER is where the files go (/var/lib/partner/history). The last step gives the
# file its name, so a file with that name is complete and on the disk. A second run replaces it.
set -euo pipefail
umask 077
folder=${EXPORT_FOLDER:-/var/lib/partner/history}
file=$folder/$1.csv.gz
mkdir -p "$folder"
trap 'rm -f "$file.$$"' EXIT

psql -Xq -v ON_ERROR_STOP=1 -c "copy $1 to stdout with (format csv, header)" | gzip >"$file.$$"
sync "$file.$$"
mv "$file.$$" "$file"
sync "$folder"
