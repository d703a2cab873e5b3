// WEBHOOK_SECRET=svc_whsec_… java Receiver.java     (Java 17 or later)
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  private static final Pattern TYPE = Pattern.compile("\"type\":\"([a-z_.]+)\"");

  public static void main(String[] args) throws Exception {
    var secret = System.getenv("WEBHOOK_SECRET").substring("svc_whsec_".length());
    var key = Base64.getDecoder().decode(secret);
    Set<String> seen = ConcurrentHashMap.newKeySet();
    var port = Integer.parseInt(Optional.ofNullable(System.getenv("PORT")).orElse("9000"));
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", exchange -> {
      var body = exchange.getRequestBody().readAllBytes();
      var headers = exchange.getRequestHeaders();
      var id = headers.getFirst("webhook-id");
      var genuine = isGenuine(key, id, headers.getFirst("webhook-timestamp"), headers.getFirst("webhook-signature"), body);
      // A delivery may come twice; its id stays the same.
      if (genuine && seen.add(id)) {
        var type = TYPE.matcher(new String(body, StandardCharsets.UTF_8));
        System.out.println((type.find() ? type.group(1) : "?") + " " + id);
      }
      exchange.sendResponseHeaders(genuine ? 204 : 401, -1);
      exchange.close();
    });
    server.start();
    System.out.println("listening at " + server.getAddress().getPort());
  }

  /** Whether the raw body was signed by us within five minutes. */
  static boolean isGenuine(byte[] key, String id, String at, String given, byte[] body) {
    if (id == null || at == null || given == null || !at.matches("\\d{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(at)) > 300) return false;
    try {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update((id + "." + at + ".").getBytes(StandardCharsets.UTF_8));
      var expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
      for (var one : given.split(" ")) {
        if (MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8))) return true;
      }
      return false;
    } catch (java.security.GeneralSecurityException error) {
      return false;
    }
  }
}
