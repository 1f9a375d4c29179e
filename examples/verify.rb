require "openssl"

# Returns "valid", "malformed", "stale" or "forged".
#
# secrets: an array, which holds two while you rotate them. body: the raw bytes
# before any parsing (Rack: request.body.read, Rails: request.raw_post).
def verify(secrets, signature, timestamp, body, now_ms = (Time.now.to_r * 1000).to_i)
  unless secrets.is_a?(Array) && secrets.any? && secrets.all?(/\Awhsec_[^\s"',]+\z/)
    raise ArgumentError, "secrets must be an array, each signing secret as issued: whsec_…"
  end
  raise ArgumentError, "the body must be the raw bytes, as request.body.read" unless body.is_a?(String)

  signature, timestamp = signature.to_s.b, timestamp.to_s.b
  return "malformed" unless signature.match?(/\Asha256=[^,]*\z/n)
  return "malformed" unless timestamp.match?(/\A[0-9]{1,15}\z/)
  return "stale" unless (now_ms - timestamp.to_i).abs <= 5 * 60 * 1000

  genuine = secrets.map do |secret|
    mac = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{timestamp}.".b + body.b)
    OpenSSL.secure_compare("sha256=#{mac}", signature)
  end
  genuine.any? ? "valid" : "forged"
end
