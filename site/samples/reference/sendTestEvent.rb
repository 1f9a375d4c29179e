require "json"
require "net/http"

uri = URI("#{ENV.fetch("PARTNER_API")}/api/v1/partner/webhooks/#{ENV.fetch("SUBSCRIPTION_ID")}/test")
token = ENV.fetch("PARTNER_TOKEN")
headers = { "Authorization" => "Bearer #{token}", "Content-Type" => "application/json" }
body = { secret: ENV.fetch("PARTNER_SECRET") }
response = Net::HTTP.post(uri, body.to_json, headers)
puts response.code, response.body
