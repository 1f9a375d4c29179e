<?php
$url = getenv("PARTNER_API") . "/api/v1/partner/webhooks/" . getenv("SUBSCRIPTION_ID") . "/test";
$request = [
    "method" => "POST",
    "header" => [
        "Authorization: Bearer " . getenv("PARTNER_TOKEN"),
        "Content-Type: application/json",
    ],
    "content" => json_encode(["secret" => getenv("PARTNER_SECRET")]),
    "ignore_errors" => true, // A refusal has a body, too.
];
$body = file_get_contents($url, false, stream_context_create(["http" => $request]));
echo $http_response_header[0], "\n", $body, "\n";
