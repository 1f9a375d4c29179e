require "json"
require "net/http"

uri = URI("#{ENV.fetch("PARTNER_API")}/api/v1/partner/webhooks")
token = ENV.fetch("PARTNER_TOKEN")
headers = { "Authorization" => "Bearer #{token}", "Content-Type" => "application/json" }
body = { url: ENV.fetch("RECEIVER_URL"), events: ["vc.test.ping"] }
response = Net::HTTP.post(uri, body.to_json, headers)
puts response.code, response.body
