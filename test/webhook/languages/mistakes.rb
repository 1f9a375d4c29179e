# Prints the reaction of examples/verify.rb to each mistake in a receiver.
root, signature, timestamp, body = ARGV
require File.join(root, "examples/verify.rb")

[[], [""], ["whsec_x", ""], [ENV["NOT_SET"]], ["whsec_x\n"], ["\"whsec_x\""], ["vck_x.y"], ["whsec_x,whsec_y"], "whsec_x", nil].each do |secrets|
  puts verify(secrets, signature, timestamp, body, timestamp.to_i)
rescue ArgumentError => e
  puts "throws: #{e.message}"
end
