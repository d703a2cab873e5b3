# WEBHOOK_SECRET=svc_whsec_… ruby receiver.rb     (no gems)
require 'base64'
require 'json'
require 'openssl'
require 'socket'

KEY = Base64.strict_decode64(ENV.fetch('WEBHOOK_SECRET').delete_prefix('svc_whsec_'))
MAX_BODY = 1 << 20

# Whether the raw body was signed by us within five minutes.
def genuine?(headers, body)
  id, at = headers.values_at('webhook-id', 'webhook-timestamp')
  return false unless at.to_s.match?(/\A\d{1,12}\z/) && (Time.now.to_i - at.to_i).abs <= 300

  expected = 'v1,' + Base64.strict_encode64(OpenSSL::HMAC.digest('SHA256', KEY, "#{id}.#{at}.#{body}"))
  headers['webhook-signature'].to_s.split(' ').any? do |given|
    given.bytesize == expected.bytesize && OpenSSL.fixed_length_secure_compare(given, expected)
  end
end

seen = {}
server = TCPServer.new('127.0.0.1', Integer(ENV.fetch('PORT', '9000')))
puts "listening at #{server.addr[1]}"
$stdout.flush
loop do
  Thread.start(server.accept) do |client|
    client.gets
    headers = {}
    while (line = client.gets&.chomp) && !line.empty?
      name, value = line.split(':', 2)
      headers[name.downcase] = value.to_s.strip
    end
    body = client.read([headers['content-length'].to_i, MAX_BODY].min).to_s
    good = genuine?(headers, body)
    if good
      event = JSON.parse(body)
      # A delivery may come twice; its id stays the same.
      puts "#{event['type']} #{event['id']}" unless seen[event['id']]
      $stdout.flush
      seen[event['id']] = true
    end
    client.write("HTTP/1.1 #{good ? '204 No Content' : '401 Unauthorized'}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    client.close
  end
end
