interface Language {
  readonly id: string
  readonly label: string
  readonly install: string
  readonly code: string
}

const node = `import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.INTERCEPT_WEBHOOK_SECRET.slice(4))  // svc_whsec_… → whsec_…

export async function receive(request) {
  const body = await request.text()  // the raw bytes, before any JSON parser
  const event = webhook.verify(body, Object.fromEntries(request.headers))  // throws if the signature is invalid
  if (await alreadySeen(event.id)) return new Response(null, { status: 204 })
  await enqueue(event)  // answer within 15 seconds, work later
  return new Response(null, { status: 204 })
}`

const python = `import os
from flask import Flask, request
from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["INTERCEPT_WEBHOOK_SECRET"][4:])  # svc_whsec_… → whsec_…
app = Flask(__name__)

@app.post("/hooks")
def receive():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 400
    enqueue(event)  # deduplicate by event["id"]
    return "", 204`

const go = `import (
	"io"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// svc_whsec_… → whsec_…
var webhook, _ = standardwebhooks.NewWebhook(os.Getenv("INTERCEPT_WEBHOOK_SECRET")[4:])

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 65536))
	if err != nil || webhook.Verify(body, r.Header) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	enqueue(r.Header.Get("webhook-id"), body) // deduplicate by this id
	w.WriteHeader(http.StatusNoContent)
}`

const ruby = `require "openssl"
require "base64"

KEY = Base64.decode64(ENV.fetch("INTERCEPT_WEBHOOK_SECRET").delete_prefix("svc_whsec_"))

def holds?(headers, body)
  id, at = headers["webhook-id"], headers["webhook-timestamp"]
  return false if (Time.now.to_i - at.to_i).abs > 300
  digest = OpenSSL::HMAC.digest("SHA256", KEY, "#{id}.#{at}.#{body}")
  expected = "v1,#{Base64.strict_encode64(digest)}"
  headers["webhook-signature"].split(" ").any? { |one| OpenSSL.secure_compare(one, expected) }
end`

const php = `<?php
function holds(array $headers, string $body): bool {
    $secret = getenv('INTERCEPT_WEBHOOK_SECRET');
    $key = base64_decode(substr($secret, strlen('svc_whsec_')));
    $at = $headers['webhook-timestamp'];
    if (abs(time() - (int) $at) > 300) return false;
    $signed = $headers['webhook-id'] . '.' . $at . '.' . $body;
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $headers['webhook-signature']) as $one) {
        if (hash_equals($expected, $one)) return true;
    }
    return false;
}
// $body = file_get_contents('php://input'): the raw bytes`

const java = `import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

static boolean holds(String id, String at, String signatures, byte[] body) throws Exception {
  if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(at)) > 300) return false;
  String secret = System.getenv("INTERCEPT_WEBHOOK_SECRET").substring("svc_whsec_".length());
  Mac mac = Mac.getInstance("HmacSHA256");
  mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret), "HmacSHA256"));
  mac.update((id + "." + at + ".").getBytes("UTF-8"));
  String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
  for (String one : signatures.split(" ")) {
    if (MessageDigest.isEqual(one.getBytes("UTF-8"), expected.getBytes("UTF-8"))) return true;
  }
  return false;
}`

/** How to verify a delivery, in six languages; INTERCEPT_WEBHOOK_SECRET contains the complete secret. */
export const languages: readonly Language[] = [
  { id: 'node', label: 'Node.js', install: 'npm install standardwebhooks', code: node },
  { id: 'python', label: 'Python', install: 'pip install standardwebhooks', code: python },
  {
    id: 'go',
    label: 'Go',
    install: 'go get github.com/standard-webhooks/standard-webhooks/libraries/go',
    code: go,
  },
  {
    id: 'ruby',
    label: 'Ruby',
    install: "export INTERCEPT_WEBHOOK_SECRET='svc_whsec_…'",
    code: ruby,
  },
  { id: 'php', label: 'PHP', install: "export INTERCEPT_WEBHOOK_SECRET='svc_whsec_…'", code: php },
  {
    id: 'java',
    label: 'Java',
    install: "export INTERCEPT_WEBHOOK_SECRET='svc_whsec_…'",
    code: java,
  },
]
