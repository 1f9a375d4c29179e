#!/bin/sh
# Creates the service's role. It owns nothing: `partner-api migrate` gives it its rights.
set -eu
psql --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set=password="$SERVICE_PASSWORD" <<'SQL'
create role partner_service login password :'password';
SQL
