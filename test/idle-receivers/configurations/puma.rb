rackup "%SOURCES%/configurations/config.ru"
bind "ssl://%HOST%:%PORT%?key=%KEY%&cert=%CERT%"
persistent_timeout %IDLE%
