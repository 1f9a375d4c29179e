#!/bin/sh
# Prints new secrets for compose.yaml. Keep the line SEALING_KEYS apart from the database's backups.
set -eu
umask 077
echo "OWNER_PASSWORD=$(openssl rand -hex 24)"
echo "SERVICE_PASSWORD=$(openssl rand -hex 24)"
echo "GRAFANA_PASSWORD=$(openssl rand -hex 24)"
echo "ADMIN_TOKEN=$(openssl rand -hex 24)"
echo "BRIDGE_TOKEN=$(openssl rand -hex 24)"
echo "SEALING_KEYS=first:$(openssl rand -base64 32)"
