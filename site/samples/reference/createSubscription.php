<?php
$url = getenv("PARTNER_API") . "/api/v1/partner/webhooks";
$request = [
    "method" => "POST",
    "header" => [
        "Authorization: Bearer " . getenv("PARTNER_TOKEN"),
        "Content-Type: application/json",
    ],
    "content" => json_encode(["url" => getenv("RECEIVER_URL"), "events" => ["vc.test.ping"]]),
    "ignore_errors" => true, // A refusal has a body, too.
];
$body = file_get_contents($url, false, stream_context_create(["http" => $request]));
echo $http_response_header[0], "\n", $body, "\n";
