<?php

// Prints the verdict of examples/verify.php on each vector.

$root = $argv[1];
require "$root/examples/verify.php";

function header_of(array $case, string $name): string
{
    $lines = array_filter($case["headers"], fn ($line) => strtolower($line[0]) === $name);
    return implode(", ", array_column($lines, 1));
}

$vectors = json_decode(file_get_contents("$root/vectors/signature.json"), true, 512, JSON_THROW_ON_ERROR);
foreach ($vectors["cases"] as $case) {
    $body = str_repeat(base64_decode($case["body"]), $case["repeat"]);
    [$signature, $timestamp] = [header_of($case, "x-vc-signature"), header_of($case, "x-vc-timestamp")];
    echo verify($case["secrets"], $signature, $timestamp, $body, $case["now"]), "\n";
}
