require "net/http"

uri = URI("#{ENV.fetch("PARTNER_API")}/api/v1/partner/webhooks/#{ENV.fetch("SUBSCRIPTION_ID")}/failures?limit=20")
headers = { "Authorization" => "Bearer #{ENV.fetch("PARTNER_TOKEN")}" }
response = Net::HTTP.get_response(uri, headers)
puts response.code, response.body
