require "net/http"

uri = URI("#{ENV.fetch("PARTNER_API")}/api/v1/partner/webhooks/#{ENV.fetch("SUBSCRIPTION_ID")}")
headers = { "Authorization" => "Bearer #{ENV.fetch("PARTNER_TOKEN")}" }
http = Net::HTTP.new(uri.host, uri.port)
http.use_ssl = uri.scheme == "https"
response = http.delete(uri.request_uri, headers)
puts response.code, response.body
