<?php
// WEBHOOK_SECRET=svc_whsec_… php -S 127.0.0.1:9000 receiver.php

/** Whether the raw body was signed by us within five minutes. */
function is_genuine(string $key, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $at = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($at) || abs(time() - (int) $at) > 300) {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}

$key = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('svc_whsec_')), true);
$body = file_get_contents('php://input');
if ($key === false || !is_genuine($key, $body)) {
    http_response_code(401);
    return;
}
$event = json_decode($body, true);
// A delivery may come twice; keep the ids that you have worked on where all your processes see them.
error_log("{$event['type']} {$event['id']}");
http_response_code(204);
