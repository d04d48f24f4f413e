/**
 * The published ways to make two servers disagree about where a request ends, as parts that go together: each one takes the
 * place of the same part of an ordinary request. `\0` and bytes above 0x7f stand for themselves (latin1).
 */

/** Request lines; `{M}` stands for the method and `{T}` for the target. */
export const requestLines: readonly string[] = [
  '{M} {T} HTTP/1.1', '{M}  {T} HTTP/1.1', '{M}\t{T} HTTP/1.1', '{M} {T}  HTTP/1.1', '{M} {T}\tHTTP/1.1', '{M} {T} HTTP/1.1 ', ' {M} {T} HTTP/1.1', '{M} {T} HTTP/1.1\t',
  '\r\n{M} {T} HTTP/1.1', '\n{M} {T} HTTP/1.1', '\r{M} {T} HTTP/1.1', '{M} {T} HTTP/1.0', '{M} {T} HTTP/0.9', '{M} {T} HTTP/1.2', '{M} {T} HTTP/2.0', '{M} {T} HTTP/1.10', '{M} {T} HTTP/01.1',
  '{M} {T} http/1.1', '{M} {T} HTTP/1.1x', '{M} {T} HTTP /1.1', '{M} {T} HTTP/1. 1', '{M} {T} HTTP/1', '{M} {T}', '{M} {T}\0 HTTP/1.1', '{M}\0 {T} HTTP/1.1', '{M} {T}\x0b HTTP/1.1', '{M} {T}\x85 HTTP/1.1',
  '{M} {T}\xa0HTTP/1.1', '{M} {T} HTTP/1.1\0', '{M} {T} HTTP/1.1\rX: y', '{M} {T} HTTP/1.1\nX: y', 'm {T} HTTP/1.1', '{M} {T} ICE/1.0', '{M} {T} RTSP/1.0', '{M} {T}#x HTTP/1.1', '{M} {T}?x HTTP/1.1', '{M} {T}?x#y HTTP/1.1',
  '{M} {T}\\x HTTP/1.1', '{M} {T}|x HTTP/1.1', '{M} {T}"x HTTP/1.1', '{M} {T}%00 HTTP/1.1', '{M} {T}%0d%0a HTTP/1.1', '{M} {T}?%0d%0aX:%20y HTTP/1.1', '{M} http://a{T} HTTP/1.1', '{M} http://b{T} HTTP/1.1', '{M} HTTPS://a:80{T} HTTP/1.1',
  '{M} http://u@a{T} HTTP/1.1', '{M} http:///{T} HTTP/1.1', '{M} http://{T} HTTP/1.1', '{M} http:{T} HTTP/1.1', '{M} http:/a{T} HTTP/1.1', '{M} ftp://a{T} HTTP/1.1', '{M} a{T} HTTP/1.1', '{M} //b{T} HTTP/1.1',
  '{M} http://a\\@b{T} HTTP/1.1', '{M} http://a b/{T} HTTP/1.1', 'SOURCE {T} ICE/1.0', 'DESCRIBE {T} RTSP/1.0', 'BREW {T} HTTP/1.1', '{M}: {T} HTTP/1.1', '"{M}" {T} HTTP/1.1', 'TRACE {T} HTTP/1.1', 'PRI {T} HTTP/2.0',
];

/** Fields that name the host. */
export const hosts: readonly string[] = [
  'Host: a', 'Host:a', 'Host: a ', 'Host:\ta\t', 'HOST: a', 'Host : a', 'Host\t: a', ' Host: a', 'Host: a\r\nHost: a', 'Host: a\r\nHost: b', 'Host: a\r\nhost: b', 'Host: a\r\nHost : b', 'Host: a\r\n Host: b',
  'Host: a\nHost: b', 'Host: a\rHost: b', 'Host: a, b', 'Host: a b', 'Host: a/b', 'Host: a?b', 'Host: a#b', 'Host: u@a', 'Host: a:80', 'Host: a:', 'Host: a:99999', 'Host: a:80:80', 'Host: a:x', 'Host: :80',
  'Host:', 'X: y', 'Host: a.', 'Host: a..', 'Host: .a', 'Host: a..b', 'Host: [::1]', 'Host: [::1', 'Host: ::1', 'Host: a\0b', 'Host: a\x85', 'Host: \xe9', 'Host: a\\b', 'Host: "a"', 'Host: <a>', 'Host: a%00', 'Host: a;b', 'Ho\0st: a',
  'Host:\r\n a', 'Hos\xa0t: a', 'Host: a\r\nX-Forwarded-Host: b', 'Host: a\r\nX-Host: b', 'Host: a\r\nX-Original-URL: /t0r0t', 'Host: a\r\nX-HTTP-Method-Override: PUT',
];

/** Fields that announce, or pretend to announce, chunks. */
export const codings: readonly string[] = [
  'Transfer-Encoding: chunked', 'transfer-encoding:chunked', 'Transfer-Encoding: chunked ', 'Transfer-Encoding:\tchunked', 'Transfer-Encoding: chunked\t', 'Transfer-Encoding: CHUNKED', 'Transfer-Encoding: cHuNkEd',
  'Transfer-Encoding : chunked', 'Transfer-Encoding\t: chunked', ' Transfer-Encoding: chunked', '\tTransfer-Encoding: chunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding: chunkedx', 'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: chunked; a=b', 'Transfer-Encoding: "chunked"', "Transfer-Encoding: 'chunked'", 'Transfer-Encoding: \x0bchunked', 'Transfer-Encoding: chunked\x0b', 'Transfer-Encoding: \x0cchunked', 'Transfer-Encoding: \0chunked',
  'Transfer-Encoding: chunked\0', 'Transfer-Encoding: chunked\xa0', 'Transfer-Encoding: \xffchunked', 'Transfer-Encoding:\x01chunked', 'Transfer-Encoding: chunk\x85ed', 'Transfer-Encoding: identity', 'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: chunked, identity', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: chunked, chunked', 'Transfer-Encoding: chunked,', 'Transfer-Encoding: ,chunked', 'Transfer-Encoding: , ,chunked',
  'Transfer-Encoding: chunked,,', 'Transfer-Encoding: cow', 'Transfer-Encoding: ', 'Transfer-Encoding:', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nTransfer-encoding: cow', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked', 'Transfer-Encoding:\r\n chunked', 'Transfer-Encoding: chun\r\n ked',
  'Transfer-Encoding:\n chunked', 'Transfer-Encoding:\nchunked', 'Transfer-Encoding\r\n: chunked', 'X: y\nTransfer-Encoding: chunked', 'X: y\rTransfer-Encoding: chunked', 'X: y\r\rTransfer-Encoding: chunked', 'X: y\0\r\nTransfer-Encoding: chunked',
  'X: y\r\n Transfer-Encoding: chunked', ': y\r\nTransfer-Encoding: chunked', 'X\r\nTransfer-Encoding: chunked', 'Transfer_Encoding: chunked', 'Transfer-Encoding\0: chunked', 'Transfer-Encoding\xa0: chunked', 'Transfer Encoding: chunked',
  'Transfer-Encodin\xc4\xa1: chunked', 'X-Transfer-Encoding: chunked', 'Content-Encoding: chunked', 'TE: chunked', 'TE: trailers, chunked', 'Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked',
  'Connection: close, Transfer-Encoding\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nConnection: keep-alive, Transfer-Encoding', 'Transfer-Encoding: chunked\r\nTrailer: Transfer-Encoding', '"Transfer-Encoding": chunked',
  'Transfer-Encoding:: chunked', 'Transfer-Encoding: : chunked', 'Transfer-Encoding; chunked', 'Transfer-Encoding= chunked', 'Transfer-Encoding: chunked\r', 'Transfer-Encoding: chunked\n',
];

/** Fields that give a length, or pretend to; `{N}` stands for the number. */
export const lengths: readonly string[] = [
  'Content-Length: {N}', 'content-length:{N}', 'Content-Length:\t{N}\t', 'Content-Length: {N} ', 'Content-Length: 0{N}', 'Content-Length: 00000{N}', 'Content-Length : {N}', 'Content-Length\t: {N}', ' Content-Length: {N}', 'Content-Length: +{N}', 'Content-Length: -{N}',
  'Content-Length: 0x{N}', 'Content-Length: {N}.0', 'Content-Length: {N}e0', 'Content-Length: {N},{N}', 'Content-Length: {N}, {N}', 'Content-Length: {N},', 'Content-Length: ,{N}', 'Content-Length: {N}, 0', 'Content-Length: {N};x', 'Content-Length: "{N}"', 'Content-Length: {N} x',
  'Content-Length: x {N}', 'Content-Length: {N}\x0b', 'Content-Length: \x0b{N}', 'Content-Length: {N}\0', 'Content-Length: {N}\xa0', 'Content-Length: {N}_0', 'Content-Length: {N} 0', 'Content-Length: \xef\xbc\x95', 'Content-Length:', 'Content-Length: ',
  'Content-Length: 18446744073709551616', 'Content-Length: 1844674407370955161{N}', 'Content-Length: 429496729{N}', 'Content-Length: 9007199254740993', 'Content-Length: 99999999999999999999999999', 'Content-Length: {N}\r\nContent-Length: {N}',
  'Content-Length: {N}\r\nContent-Length: 0', 'Content-Length: 0\r\nContent-Length: {N}', 'Content-Length: {N}\r\ncontent-length: 1', 'Content-Length: {N}\r\n 0', 'Content-Length:\r\n {N}', 'Content-Length:\n {N}', 'Content-Length: {N}\nX: y', 'X: y\nContent-Length: {N}',
  'X: y\rContent-Length: {N}', 'Content_Length: {N}', 'Content-Length\0: {N}', 'Content Length: {N}', 'X-Content-Length: {N}', 'Connection: Content-Length\r\nContent-Length: {N}', 'Content-Length: {N}\r\nConnection: close, content-length',
  'Content-Length:: {N}', 'Content-Length: {N}n', 'Content-Length: null', 'Content-Length: {N}\r',
];

/** Other fields: obsolete folds, control characters, upgrades, expectations, and names in Connection. */
export const extras: readonly string[] = [
  'X: y', 'X:', 'X: ', 'X: y\r\n z', 'X: y\r\n\tz', 'X: y\r\n ', 'X: y\n z', 'X: y\nz: 1', 'X: y\rz: 1', 'X: y\r\n\rz: 1', 'X: \0', 'X\0: y', 'X: \x7f', 'X: \x01', 'X: \x1b', 'X: \x85\xff', 'X y', 'X', ': y', '\0', 'X : y', 'X\t: y', 'X\x0b: y', 'X(y): z', 'X\xff: y',
  'X: y\r\nGET /t0r0t HTTP/1.1', 'GET /t0r0t HTTP/1.1: x', 'X: y\r', 'X: y\n', '\nX: y', '\rX: y',
  'Expect: 100-continue', 'Expect: 100-Continue', 'expect:100-continue', 'Expect: 100-continue, 100-continue', 'Expect: y 100-continue', 'Expect: 100-continuex', 'Expect: 200-ok', 'Expect:', 'Expect:\r\n 100-continue', 'Expect: 100-continue\r\nExpect: 100-continue',
  'Expect: 100-continue\r\nExpect: x', 'Expect: 100-continue\r\nConnection: Expect', 'Expect: \t100-continue', 'Expect : 100-continue', 'Expect: 100-continue\0',
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__', 'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__', 'Upgrade: h2c', 'Connection: Upgrade\r\nUpgrade: h2', 'Connection: Upgrade\r\nUpgrade: HTTP/2.0',
  'Connection: upgrade\r\nUpgrade: TLS/1.0', 'Connection: upgrade\r\nUpgrade: websocket, h2c', 'Connection: upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket', 'Connection: upgrade, HTTP2-Settings\r\nUpgrade: \th2c\r\nHTTP2-Settings: ',
  'Connection: close', 'Connection: keep-alive', 'Connection: close, keep-alive', 'Connection: keep-alive, close', 'Connection: closed', 'Connection: \0close', 'Connection: close\r\nConnection: keep-alive', 'Connection: Host', 'Connection: host, close',
  'Connection: Connection', 'Connection: Content-Length, Transfer-Encoding', 'Connection: X-Forwarded-For, Authorization, Cookie\r\nAuthorization: Basic x\r\nCookie: a=b', 'Connection: Via, X-Forwarded-Proto, X-Forwarded-Host', 'Connection: :authority', 'Connection: ,,,',
  'Proxy-Connection: close', 'Proxy-Connection: keep-alive, Content-Length', 'Keep-Alive: timeout=5', 'Trailer: Content-Length', 'Trailer: Host, Transfer-Encoding', 'TE: trailers', 'TE: gzip, chunked', 'Max-Forwards: 0', 'Content-Length-: 5', '-Content-Length: 5',
  'X-Forwarded-For: 1\r\nX-Forwarded-For: 2', ':method: PUT', ':path: /t0r0t', ':authority: b', 'X: :path', 'Range: bytes=0-1',
];

/** Bodies in chunks; `{H}` stands for a request hidden in them, `{L}` for its length in hexadecimal. */
export const chunkBodies: readonly string[] = [
  '0\r\n\r\n{H}', '{L}\r\n{H}\r\n0\r\n\r\n', '1\r\nx\r\n0\r\n\r\n{H}', '5\r\nhello\r\n0\r\n\r\n', '{L};a\r\n{H}\r\n0\r\n\r\n', '{L};a=b\r\n{H}\r\n0\r\n\r\n', '{L};a="b;c\\""\r\n{H}\r\n0\r\n\r\n', '{L} ;a\r\n{H}\r\n0\r\n\r\n', '{L}; a\r\n{H}\r\n0\r\n\r\n', '{L};a = b\r\n{H}\r\n0\r\n\r\n', '{L};\r\n{H}\r\n0\r\n\r\n',
  '{L};;\r\n{H}\r\n0\r\n\r\n', '{L};a="\r\n{H}\r\n0\r\n\r\n', '{L};a=\x01\r\n{H}\r\n0\r\n\r\n', '{L};a\0\r\n{H}\r\n0\r\n\r\n', '{L};a\n{H}\r\n0\r\n\r\n', '{L};a\r{H}\r\n0\r\n\r\n', '{L};a\n\r\n{H}\r\n0\r\n\r\n', '{L};a\r\r\n{H}\r\n0\r\n\r\n', '2;\nxx\r\n{L}\r\n0\r\n\r\n{H}', '{L} \r\n{H}\r\n0\r\n\r\n', '{L}\t\r\n{H}\r\n0\r\n\r\n', ' {L}\r\n{H}\r\n0\r\n\r\n',
  '\t{L}\r\n{H}\r\n0\r\n\r\n', '0x{L}\r\n{H}\r\n0\r\n\r\n', '+{L}\r\n{H}\r\n0\r\n\r\n', '-{L}\r\n{H}\r\n0\r\n\r\n', '{L}\n{H}\r\n0\r\n\r\n', '{L}\r{H}\r\n0\r\n\r\n', '{L}\r\r\n{H}\r\n0\r\n\r\n', '00000{L}\r\n{H}\r\n0\r\n\r\n', '00000000000000000000000000{L}\r\n{H}\r\n0\r\n\r\n', 'fffffffffffffffff{L}\r\n{H}\r\n0\r\n\r\n', '10000000000000000{L}\r\n{H}\r\n0\r\n\r\n',
  '1000000000{L}\r\n{H}\r\n0\r\n\r\n', '\r\n{H}\r\n0\r\n\r\n', 'g\r\n{H}\r\n0\r\n\r\n', '{L}g\r\n{H}\r\n0\r\n\r\n', '{L},\r\n{H}\r\n0\r\n\r\n', '{L}_\r\n{H}\r\n0\r\n\r\n', '{L}.0\r\n{H}\r\n0\r\n\r\n', '{L}\0\r\n{H}\r\n0\r\n\r\n', '{L}\r\n{H}XX0\r\n\r\n', '{L}\r\n{H}\n0\r\n\r\n', '{L}\r\n{H}\r0\r\n\r\n', '{L}\r\n{H}0\r\n\r\n', '{L}\r\n{H}x\r\n0\r\n\r\n', '{L}\r\n{H}\r\n\r\n0\r\n\r\n',
  '1\r\n{H}{L}\r\n0\r\n\r\n', '{L}\r\n{H}\r\n0\n\n', '{L}\r\n{H}\r\n0\r\r', '{L}\r\n{H}\r\n0\r\n\n', '{L}\r\n{H}\r\n0\n\r\n', '{L}\r\n{H}\r\n00\r\n\r\n', '{L}\r\n{H}\r\n000000\r\n\r\n', '{L}\r\n{H}\r\n0;a\r\n\r\n', '{L}\r\n{H}\r\n0 \r\n\r\n', '{L}\r\n{H}\r\n-0\r\n\r\n', '{L}\r\n{H}\r\n+0\r\n\r\n', '{L}\r\n{H}\r\n0x0\r\n\r\n', '{L}\r\n{H}\r\n\0\r\n\r\n', '0\r\nX: y\r\n\r\n{H}', '0\r\nContent-Length: 5\r\n\r\n{H}',
  '0\r\nTransfer-Encoding: chunked\r\n\r\n{H}', '0\r\nHost: b\r\n\r\n{H}', '0\r\nX: y\n\r\n{H}', '0\r\nX: y\r\n z\r\n\r\n{H}', '0\r\n X: y\r\n\r\n{H}', '0\r\nX y\r\n\r\n{H}', '0\r\nX : y\r\n\r\n{H}', '0\r\n: y\r\n\r\n{H}', '0\r\nX: \0\r\n\r\n{H}', '0\r\n{H}', '0\r\nX: y\r{H}\r\n\r\n', '0\r\n\r{H}', '0\r\n\n{H}', '0\n\r\n{H}',
  '0\r\nConnection: close\r\n\r\n{H}', '0\r\nExpect: 100-continue\r\n\r\n{H}', `1;${'a'.repeat(3_000)}\r\nx\r\n0\r\n\r\n{H}`, `1;${'a'.repeat(20_000)}\r\nx\r\n0\r\n\r\n{H}`, '0;{H}\r\n\r\n', '1;a="\r\n0\r\n\r\n{H}"\r\nx\r\n0\r\n\r\n',
];

/** Bodies that may be read with a length; the same placeholders. */
export const plainBodies: readonly string[] = ['{H}', 'hello', 'hello{H}', '', '0\r\n\r\n{H}', '{L}\r\n{H}\r\n0\r\n\r\n'];

/** Ends of a header section. */
export const headEnds: readonly string[] = ['\r\n\r\n', '\n\r\n', '\r\n\n', '\n\n', '\r\r', '\r\n\r', '\r\n \r\n', '\r\n\t\r\n\r\n', '\r\n\0\r\n', '\r\n\r\r\n', '\r\r\n\r\n'];
