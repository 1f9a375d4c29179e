<?php
$url = getenv("PARTNER_API") . "/api/v1/partner/webhooks";
$request = [
    "method" => "GET",
    "header" => ["Authorization: Bearer " . getenv("PARTNER_TOKEN")],
    "ignore_errors" => true, // A refusal has a body, too.
];
$body = file_get_contents($url, false, stream_context_create(["http" => $request]));
echo $http_response_header[0], "\n", $body, "\n";
