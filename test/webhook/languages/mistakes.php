<?php

// Prints what examples/verify.php says of each mistake in a receiver's own program.

[, $root, $signature, $timestamp, $body] = $argv;
require "$root/examples/verify.php";

foreach ([[], [""], ["whsec_x", ""], [getenv("NOT_SET")], [null]] as $secrets) {
    try {
        echo verify($secrets, $signature, $timestamp, $body, (int) $timestamp), "\n";
    } catch (InvalidArgumentException $e) {
        echo "throws: ", $e->getMessage(), "\n";
    }
}
