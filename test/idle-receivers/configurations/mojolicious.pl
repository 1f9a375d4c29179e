use Mojolicious::Lite;
post '/' => sub { shift->render(text => 'ok') };
app->start;
