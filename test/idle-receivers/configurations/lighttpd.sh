cat >/dev/null
printf "Status: 200\r\nContent-Length: 2\r\n\r\nok"
