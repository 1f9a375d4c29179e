# Prints the verdict of examples/verify.rb on each vector.
require "json"

root = ARGV.fetch(0)
require File.join(root, "examples/verify.rb")

def header(vector, name)
  values = vector["headers"].filter_map { |key, value| value if key.downcase == name }
  values.empty? ? nil : values.join(", ")
end

JSON.parse(File.read(File.join(root, "vectors/signature.json")))["cases"].each do |vector|
  body = vector["body"].unpack1("m") * vector["repeat"]
  signature, timestamp = header(vector, "x-vc-signature"), header(vector, "x-vc-timestamp")
  puts verify(vector["secrets"], signature, timestamp, body, vector["now"])
end
