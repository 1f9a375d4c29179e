<?php

// Prints the reaction of examples/verify.php to each mistake in a receiver.

[, $root, $signature, $timestamp, $body] = $argv;
require "$root/examples/verify.php";

foreach ([[], [""], ["whsec_x", ""], [getenv("NOT_SET")], [null], ["whsec_x\n"], ["\"whsec_x\""], ["vck_x.y"], ["whsec_x,whsec_y"]] as $secrets) {
    try {
        echo verify($secrets, $signature, $timestamp, $body, (int) $timestamp), "\n";
    } catch (InvalidArgumentException $e) {
        echo "throws: ", $e->getMessage(), "\n";
    }
}
