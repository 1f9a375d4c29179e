%% The server of Erlang/OTP (inets). PORT, KEY, CERT, and IDLE or none.
-module(receiver).
-export([start/0, do/1]).

start() ->
    {ok, _} = application:ensure_all_started(inets),
    {ok, _} = application:ensure_all_started(ssl),
    Idle = case os:getenv("IDLE") of
        false -> [];
        Seconds -> [{keep_alive_timeout, list_to_integer(Seconds)}]
    end,
    Tls = [{certfile, os:getenv("CERT")}, {keyfile, os:getenv("KEY")}],
    {ok, _} = inets:start(httpd, Idle ++ [
        {bind_address, {127, 0, 0, 2}}, {port, list_to_integer(os:getenv("PORT"))}, {server_name, "receiver"},
        {server_root, "/tmp"}, {document_root, "/tmp"}, {modules, [?MODULE]}, {socket_type, {ssl, Tls}}]).

do(_) ->
    {proceed, [{response, {response, [{code, 200}, {content_length, "2"}], ["ok"]}}]}.
