#!/usr/bin/env bash
# Writes a detached partition of history to a compressed CSV file, for EXPORT_COMMAND:
#
#   export-history.sh public.events_20261101_000000_expired
#
# libpq's variables name the database, PARTNER_API_CELL its cell. EXPORT_FOLDER is where the files go
# (/var/lib/partner/history). The last step gives the file its name, so a file with that name is complete and on the disk.
# A complete file is never replaced: the next one of the same name gets a number. It has rows that were written after their step
# had expired, or the same rows, if the service was killed between export and drop: compare the ids. Delete files of killed runs,
# which do not end in .csv.gz.
#
# A row holds nothing that follows from something else. So the id of its organization is added to a row of events, and the ids of its
# event, its subscription and its organization to a row of finished_deliveries. The view `finished` shows how. `ending` is the receiver's status of a delivered one, 0 of a dead letter
# and 1 of a cancelled one. An empty `occurred_at` of an event is the time of its id.
set -euo pipefail
umask 077
table='^([a-z_][a-z0-9_]*|"([^"/[:cntrl:]]|"")+")\.(events|attempts|finished_deliveries|activity_minutes|activity_hours)_[0-9]{8}_[0-9]{6}(_[0-9]{3})?_expired$'
if [[ ! ${1:?} =~ $table ]]; then
  echo "not the name of a history table" >&2
  exit 1
fi
folder=${EXPORT_FOLDER:-/var/lib/partner/history}
name=$folder/${PARTNER_API_CELL:?}.$1
mkdir -p "$folder"
part=$(mktemp "$name.XXXXXX")
trap 'rm -f "$part"' EXIT

case ${1##*.} in # With what a row does not say by itself.
  events_*)
    rows="(select e.*, o.id as organization_id from $1 e left join organizations o on o.number = e.organization_number)" ;;
  finished_deliveries_*)
    rows="(select f.*, coalesce(m.event_id, event_of(f.id)) as event_id, s.id as subscription_id, s.organization_id
             from $1 f
             left join redelivery_marks m on m.redelivery_id = f.id
             left join subscriptions s on s.number = f.subscription_number)" ;;
  *) rows=$1 ;;
esac
psql -Xq -v ON_ERROR_STOP=1 -c "set search_path = ${1%.*}" -c "copy $rows to stdout with (format csv, header)" | gzip >"$part"
sync "$part"
file=$name.csv.gz
number=1
while [[ -e $file ]]; do
  number=$((number + 1))
  file=$name.$number.csv.gz
done
mv -n "$part" "$file"
[[ ! -e $part ]] # It is still there if another run has taken the name.
sync "$folder"
