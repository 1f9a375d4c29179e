sub { $_[0]{'psgi.input'}->read(my $body, 1000000); [200, ['Content-Length' => 2], ['ok']] }
