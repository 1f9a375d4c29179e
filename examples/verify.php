<?php

/**
 * Returns "valid", "malformed", "stale" or "forged".
 *
 * $secrets: an array, which holds two while you rotate them.
 * $signature: $_SERVER["HTTP_X_VC_SIGNATURE"] ?? "", and $timestamp likewise.
 * $body: the raw bytes, file_get_contents("php://input").
 */
function verify(array $secrets, string $signature, string $timestamp, string $body, ?int $nowMs = null): string
{
    // An unset variable is null or false, and reads as "" here.
    $wrong = preg_grep('/\Awhsec_[^\s"\',]+\z/', $secrets, PREG_GREP_INVERT);
    if (!$secrets || $wrong) throw new InvalidArgumentException("a signing secret is missing, or not as issued: whsec_…");
    if (!preg_match('/\Asha256=[^,]*\z/', $signature)) return "malformed";
    if (!preg_match('/\A[0-9]{1,15}\z/', $timestamp)) return "malformed";
    $nowMs ??= (int) (microtime(true) * 1000);
    if (abs($nowMs - (int) $timestamp) > 5 * 60 * 1000) return "stale";

    $genuine = array_map(function ($secret) use ($signature, $timestamp, $body) {
        $mac = hash_hmac("sha256", "$timestamp.$body", $secret);
        return hash_equals("sha256=$mac", $signature);
    }, $secrets);
    return in_array(true, $genuine, true) ? "valid" : "forged";
}
