// Messages on which both lanes must agree: malicious, ambiguous and ordinary ones.

/** Requests that must be refused, with the status. A request appended to one of these must never be processed. */
export const refused: [name: string, status: number, message: string][] = [
  ['no Host', 400, 'GET / HTTP/1.1\r\n\r\n'],
  ['two Hosts', 400, 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
  ['two Hosts on HTTP/1.0', 400, 'GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['a Host with a path', 400, 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n'],
  ['a Host with userinfo', 400, 'GET / HTTP/1.1\r\nHost: u@a\r\n\r\n'],
  ['an empty Host', 400, 'GET / HTTP/1.1\r\nHost:\r\n\r\n'],
  ['HTTP/2.0', 505, 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
  ['HTTP/0.9', 505, 'GET / HTTP/0.9\r\nHost: a\r\n\r\n'],
  ['TRACE', 405, 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['CONNECT', 405, 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
  ['QUERY', 405, 'QUERY / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an unknown method', 400, 'STEAL / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['OPTIONS *', 400, 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'somebody else absolutely',
    400,
    'GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  ],
  ['an authority that is not the Host', 400, 'GET http://localhost:1/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'CL and TE',
    400,
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['two CL', 400, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n'],
  ['a CL list', 400, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n'],
  ['a signed CL', 400, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n'],
  ['a hexadecimal CL', 400, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x0\r\n\r\n'],
  [
    'a CL beyond 2^53',
    413,
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9007199254740993\r\n\r\n',
  ],
  [
    'gzip, chunked',
    501,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  ],
  [',chunked', 501, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n'],
  [
    'chunked twice',
    400,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['identity', 501, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n'],
  [
    'HTTP/1.0 with TE',
    400,
    'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['an expectation', 417, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n'],
  [
    'two expectations',
    417,
    'GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: x\r\n\r\n',
  ],
  ['a bare LF', 400, 'GET / HTTP/1.1\nHost: a\n\n'],
  ['a bare LF inside', 400, 'GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n'],
  ['a bare CR', 400, 'GET / HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n'],
  ['obs-fold', 400, 'GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n'],
  ['a space before the colon', 400, 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
  ['NUL in a value', 400, 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n'],
  ['NUL in a name', 400, 'GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n'],
  [
    'a bad chunk size',
    400,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
  ],
  [
    'a chunk without CRLF',
    400,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n',
  ],
  [
    'a chunk with bare LF',
    400,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n',
  ],
  ['a URL above 8 KiB', 414, `GET /${'a'.repeat(8200)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a URL above the whole head', 414, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a head above 16 KiB', 431, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
  [
    'a head above 16 KiB of many lines',
    431,
    `GET / HTTP/1.1\r\nHost: a\r\n${`X-123: ${'a'.repeat(12)}\r\n`.repeat(850)}\r\n`,
  ],
]

/** Messages with a valid key that two parsers could read differently. */
export const ambiguous: [name: string, message: string][] = [
  [
    'CL.TE',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG',
  ],
  [
    'TE.CL',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\nZ\r\n0\r\n\r\n',
  ],
  [
    'TE.TE with a blank',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'TE in capitals twice',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: CHUNKED\r\ntransfer-encoding: x\r\n\r\n0\r\n\r\n',
  ],
  [
    'TE with vertical tab',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'xchunked',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'two CL that differ',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n',
  ],
  [
    'two CL alike',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nContent-Length: 0\r\ncontent-length: 0\r\n\r\n',
  ],
  [
    'CL with a comma',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nContent-Length: 0,44\r\n\r\n',
  ],
  ['negative CL', 'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nContent-Length: -1\r\n\r\n'],
  [
    'CL with a letter',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nContent-Length: 1a\r\n\r\n',
  ],
  [
    'a folded header',
    'GET {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nX: a\r\n\tTransfer-Encoding: chunked\r\n\r\n',
  ],
  [
    'a bare LF before CL',
    'GET {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\nContent-Length: 44\r\n\r\n',
  ],
  ['NUL in the path', 'GET {prefix}/x\0 HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n'],
  ['NUL in a value', 'GET {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nX: a\0b\r\n\r\n'],
  ['a space in the path', 'GET {prefix}/x y HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n'],
  ['a tab in the request line', 'GET\t{prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\n\r\n'],
  [
    'chunk with a negative size',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n',
  ],
  [
    'chunk with 0x',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n',
  ],
  [
    'chunk size that overflows',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff1\r\na\r\n0\r\n\r\n',
  ],
  [
    'chunk without CRLF behind',
    'POST {prefix}/x HTTP/1.1\r\nHost: a\r\n{key}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naa\r\n0\r\n\r\n',
  ],
]

/** Ordinary requests and harmless edge cases; `{at}` stands for the guarded path. */
export const wellFormed: [name: string, message: string][] = [
  ['a plain GET', 'GET {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a GET with a query', 'GET {at}?a=b&c[]={d}|"e" HTTP/1.1\r\nHost: a.example:8080\r\n\r\n'],
  ['a HEAD', 'HEAD {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a DELETE', 'DELETE {at} HTTP/1.1\r\nHost: [::1]:80\r\n\r\n'],
  ['OPTIONS', 'OPTIONS {at} HTTP/1.1\r\nHost: a\r\nOrigin: https://x.example\r\n\r\n'],
  ['a POST', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'],
  ['a PUT without a body', 'PUT {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'],
  ['a PATCH without a length', 'PATCH {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a GET with a body', 'GET {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'],
  [
    'a chunked POST',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-T: 1\r\n\r\n',
  ],
  ['two in a row', 'GET {at}/1 HTTP/1.1\r\nHost: a\r\n\r\nHEAD {at}/2 HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'a POST and a GET in a row',
    'POST {at}/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nabGET {at}/2 HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'a plain one before an unusual one',
    'GET {at}/1 HTTP/1.1\r\nHost: a\r\n\r\nPOST {at}/2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['one beyond the guarded area', 'GET /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['one beside the guarded area', 'GET {prefix}x/y HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'an unguarded one in between',
    'GET {at}/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\nGET {at}/3 HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  ['Connection: close', 'GET {at} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ['Connection: Keep-Alive', 'GET {at} HTTP/1.1\r\nHost: a\r\nconnection: Keep-Alive\r\n\r\n'],
  [
    'one glued to Connection: close',
    'GET {at}/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET {at}/2 HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'a Connection that names headers',
    'GET {at} HTTP/1.1\r\nHost: a\r\nX-Hop: 1\r\nConnection: X-Hop, keep-alive\r\n\r\n',
  ],
  ['two Connections', 'GET {at} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nConnection: x\r\n\r\n'],
  ['HTTP/1.0', 'GET {at} HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['HTTP/1.0 that stays', 'GET {at} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
  [
    'blanks around a value',
    'GET {at} HTTP/1.1\r\nHost:a\r\nX-A:   b c   \r\nX-B:\r\nX-C: \r\n\r\n',
  ],
  ['tabs around a value', 'GET {at} HTTP/1.1\r\nHost: a\r\nX-A: \tb\tc\t\r\n\r\n'],
  ['a value beyond ASCII', 'GET {at} HTTP/1.1\r\nHost: a\r\nX-A: caf\xe9\r\n\r\n'],
  ['a path beyond ASCII', 'GET {at}/\xe9 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a fragment', 'GET {at}#x HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an empty line before', '\r\nGET {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'an empty line between',
    'GET {at}/1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET {at}/2 HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'an expectation that is met',
    'POST {at} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok',
  ],
  ['names of one letter', 'GET {at} HTTP/1.1\r\nHost: a\r\nA: 1\r\nb: 2\r\n!: 3\r\n\r\n'],
  ['a name twice', 'GET {at} HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2\r\nCookie: a=b\r\n\r\n'],
  ['__proto__', 'GET {at} HTTP/1.1\r\nHost: a\r\n__proto__: 1\r\nconstructor: 2\r\n\r\n'],
  ['a long value', `GET {at} HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(3000)}\r\n\r\n`],
  ['a head of 9 KiB', `GET {at} HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(9000)}\r\n\r\n`],
  ['70 lines', `GET {at} HTTP/1.1\r\nHost: a\r\n${'X-A: 1\r\n'.repeat(70)}\r\n`],
  ['a keep-alive header', 'GET {at} HTTP/1.1\r\nHost: a\r\nKeep-Alive: timeout=5\r\n\r\n'],
  [
    'an upgrade to h2c',
    'GET {at} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  ],
  ['TE', 'GET {at} HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n'],
  ['a long length', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 0000005\r\n\r\nhello'],
  [
    'a body too large',
    `POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 1500\r\n\r\n${'x'.repeat(1500)}`,
  ],
]

/** Published smuggling attacks, variants of them, and other broken or unusual messages. */
export const smuggling: [name: string, message: string][] = [
  [
    'CL.0',
    'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 34\r\n\r\nGET {at}/hidden HTTP/1.1\r\nX: y\r\n\r\n',
  ],
  [
    '0.CL',
    'GET {at} HTTP/1.1\r\nHost: a\r\nContent-Length : 30\r\n\r\nGET {at}/hidden HTTP/1.1\r\nX: y',
  ],
  [
    'TE.0',
    'OPTIONS {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nGET {at}/hidden HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'TE with a tab',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'TE with a prefix',
    'POST {at} HTTP/1.1\r\nHost: a\r\nX: x\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['TE folded', 'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n'],
  [
    'TE behind a NUL',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\0: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['TE quoted', 'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n'],
  [
    'TE with a parameter',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n',
  ],
  [
    'TE with underscores',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  ],
  ['CL with underscores', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent_Length: 5\r\n\r\n'],
  ['CL signed', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello'],
  [
    'CL with a blank inside',
    'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 1 0\r\n\r\nhellohello',
  ],
  ['CL in another base', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello'],
  [
    'CL of a list of same values',
    'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello',
  ],
  ['CL empty', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nhello'],
  [
    'CL twice, the second folded',
    'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length:\r\n 6\r\n\r\nhello!',
  ],
  [
    'CL beyond every number',
    'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nhello',
  ],
  [
    'a chunk size with an underscore',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1_0\r\nx\r\n0\r\n\r\n',
  ],
  [
    'a chunk extension with a line feed',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\n10\r\n\r\n0\r\n\r\n',
  ],
  [
    'a chunk that ends with two letters',
    'POST {at} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabXX0\r\n\r\n',
  ],
  ['a line that ends in CR', 'GET {at} HTTP/1.1\rHost: a\r\n\r\n'],
  ['CR CR LF', 'GET {at} HTTP/1.1\r\r\nHost: a\r\n\r\n'],
  ['LF CR', 'GET {at} HTTP/1.1\r\nHost: a\n\r\n\r\n'],
  [
    'a head that ends in LF LF',
    'GET {at} HTTP/1.1\r\nHost: a\r\n\nGET {at}/hidden HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  ['a name with a blank', 'GET {at} HTTP/1.1\r\nHost: a\r\nX Y: z\r\n\r\n'],
  ['a line without a colon', 'GET {at} HTTP/1.1\r\nHost: a\r\nX\r\n\r\n'],
  ['a line that begins with a colon', 'GET {at} HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
  ['a blank before the first line', 'GET {at} HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n'],
  ['two blanks in the request line', 'GET  {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a blank behind the version', 'GET {at} HTTP/1.1 \r\nHost: a\r\n\r\n'],
  ['a version of three digits', 'GET {at} HTTP/1.10\r\nHost: a\r\n\r\n'],
  ['a version in small letters', 'GET {at} http/1.1\r\nHost: a\r\n\r\n'],
  ['no version', 'GET {at}\r\nHost: a\r\n\r\n'],
  ['a method in small letters', 'get {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a method with more letters', 'GETX {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['absolute form', 'GET http://localhost{at} HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['absolute form of others', 'GET http://evil.example{at} HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
  ['a doubled slash before', 'GET /{at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['two hosts', 'GET {at} HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
  ['a host with a comma', 'GET {at} HTTP/1.1\r\nHost: a, b\r\n\r\n'],
  ['no host', 'GET {at} HTTP/1.1\r\nX: y\r\n\r\n'],
  ['a host behind a blank', 'GET {at} HTTP/1.1\r\nHost : a\r\n\r\n'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['a proxy header', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET {at} HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a pause in a header', 'GET {at} HTTP/1.1\r\nHost: a\r\nX-A: b'],
  ['half a body', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello'],
  ['more than the body', 'POST {at} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhello'],
  [
    'Expect twice',
    'POST {at} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: x\r\nContent-Length: 0\r\n\r\n',
  ],
]
