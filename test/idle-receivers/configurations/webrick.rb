require "webrick/https"
server = WEBrick::HTTPServer.new(
  BindAddress: "%HOST%", Port: %PORT%, SSLEnable: true,
  RequestTimeout: %IDLE%,
  SSLCertificate: OpenSSL::X509::Certificate.new(File.read("%CERT%")),
  SSLPrivateKey: OpenSSL::PKey.read(File.read("%KEY%")))
server.mount_proc("/") { |request, answer| request.body; answer.body = "ok" }
server.start
