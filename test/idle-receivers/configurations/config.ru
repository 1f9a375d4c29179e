run ->(env) { env["rack.input"].read; [200, { "content-length" => "2" }, ["ok"]] }
