/**
 * Returns a shell command that prints the `v1` signature of one attempt: the HMAC-SHA256 of `id.timestamp.body`. The
 * HMAC's key is the part of the secret after `svc_whsec_`, decoded from base64.
 */
export function signatureCommand(attempt: {
  readonly event_id: string
  readonly atSeconds: number
  readonly body: string
}): string {
  const body = `'${attempt.body.replaceAll("'", `'\\''`)}'`
  return [
    "read -rsp 'Secret (svc_whsec_…): ' SECRET; echo",
    `BODY=${body}`,
    'KEY=$(printf %s "${SECRET#svc_whsec_}" | base64 -d | od -An -vtx1 | tr -d \' \\n\')',
    `printf '%s.%s.%s' ${attempt.event_id} ${attempt.atSeconds} "$BODY" |`,
    '  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64 | sed s/^/v1,/',
  ].join('\n')
}
