package io.nereid.stores;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Amazon's credentials.
 *
 * @param id of the key; empty: nobody in particular asks
 * @param secret signs requests, and is never shown
 * @param token of a session; empty: none
 * @param expires when others have to be asked for
 */
record AwsCredentials(String id, String secret, String token, Instant expires) {

  static final AwsCredentials ANONYMOUS = new AwsCredentials("", "", "", Instant.MAX);

  private static final String METADATA = "http://169.254.169.254";

  private static final Pattern ELEMENT = Pattern.compile("<(\\w+)>([^<]*)</");

  /** The time before their end at which credentials are no longer used. */
  private static final Duration MARGIN = Duration.ofMinutes(2);

  /** The time after which a machine is asked again that had no answer. */
  static final Duration PAUSE = Duration.ofMinutes(1);

  /** The credentials that have these names among values; without an end they do not expire. */
  private static AwsCredentials of(
      Map<String, String> values, String id, String secret, String token) {
    return new AwsCredentials(
        values.getOrDefault(id, ""),
        values.getOrDefault(secret, ""),
        values.getOrDefault(token, ""),
        Instant.parse(values.getOrDefault("Expiration", Instant.MAX.toString())));
  }

  boolean isAnonymous() {
    return id.isEmpty();
  }

  /** Shows no secret. */
  @Override
  public String toString() {
    return isAnonymous() ? "anonymous" : id;
  }

  /** The places where credentials are looked for, in Amazon's order. Any thread may call. */
  static final class Chain {

    private final Map<String, String> environment;
    private final Map<String, String> given;
    private final boolean amazon;
    private final SmallHttp http;

    @GuardedBy("this")
    private AwsCredentials known; // null: nobody asked yet

    @GuardedBy("this")
    private Instant ends = Instant.MIN; // when others are asked for

    /**
     * A chain.
     *
     * @param given what the file of credentials has for the bucket; empty: nothing
     * @param amazon whether the store is Amazon's, so that its machines may have credentials
     */
    Chain(
        Map<String, String> environment,
        Map<String, String> given,
        boolean amazon,
        SmallHttp http) {
      this.environment = environment;
      this.given = given;
      this.amazon = amazon;
      this.http = http;
    }

    synchronized AwsCredentials get(Instant now) throws IOException {
      if (ends.isBefore(now)) {
        AwsCredentials found = find();
        ends = found == null ? now.plus(PAUSE) : found.expires.minus(MARGIN);
        boolean keeps = found == null && known != null && known.expires.isAfter(now);
        known = keeps ? known : found == null ? ANONYMOUS : found;
      }
      return known;
    }

    /** Has others be asked for if they can be; false: there are no others. */
    synchronized boolean renew() {
      boolean other = known != null && !known.expires.equals(Instant.MAX);
      ends = other ? Instant.MIN : ends;
      return other;
    }

    /** The region that is set, or Amazon's first. */
    String region() throws IOException {
      String ofProfile = profile("config").getOrDefault("region", "us-east-1");
      return Stream.of(
              given.getOrDefault("region", ""),
              variable("AWS_REGION"),
              variable("AWS_DEFAULT_REGION"))
          .filter(region -> !region.isEmpty())
          .findFirst()
          .orElse(ofProfile);
    }

    /** Looks for credentials; null: the machine should know, and had no answer. */
    private AwsCredentials find() throws IOException {
      if (!given.getOrDefault("key_id", "").isEmpty()) {
        return of(given, "key_id", "secret_key", "session_token");
      }
      boolean profile = !given.getOrDefault("profile", "").isEmpty();
      if (!profile && !variable("AWS_ACCESS_KEY_ID").isEmpty()) {
        return of(environment, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN");
      }
      Map<String, String> file = profile("credentials");
      if (file.containsKey("aws_access_key_id")) {
        return of(file, "aws_access_key_id", "aws_secret_access_key", "aws_session_token");
      }
      return amazon ? ofMachine() : ANONYMOUS;
    }

    /** Asks what Amazon's machines and containers have for this. */
    private AwsCredentials ofMachine() throws IOException {
      if (!variable("AWS_WEB_IDENTITY_TOKEN_FILE").isEmpty()) {
        return ofWebIdentity();
      }
      String full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
      String relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
      if (!full.isEmpty() || !relative.isEmpty()) {
        String tokenFile = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        String token =
            tokenFile.isEmpty()
                ? variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
                : Files.readString(Path.of(tokenFile)).strip();
        URI where = URI.create(full.isEmpty() ? "http://169.254.170.2" + relative : full);
        Map<String, String> headers = token.isEmpty() ? Map.of() : Map.of("authorization", token);
        return ofJson(http.get(where, headers));
      }
      return variable("AWS_EC2_METADATA_DISABLED").equalsIgnoreCase("true")
          ? ANONYMOUS
          : ofInstance();
    }

    private AwsCredentials ofInstance() {
      try {
        URI metadata =
            URI.create(environment.getOrDefault("AWS_EC2_METADATA_SERVICE_ENDPOINT", METADATA));
        String token =
            http.send(
                "PUT",
                metadata.resolve("/latest/api/token"),
                Map.of("x-aws-ec2-metadata-token-ttl-seconds", "21600"),
                "");
        Map<String, String> headers = Map.of("x-aws-ec2-metadata-token", token);
        URI roles = metadata.resolve("/latest/meta-data/iam/security-credentials/");
        String role = http.get(roles, headers).lines().findFirst().orElse("");
        AwsCredentials found = ofJson(http.get(roles.resolve(role), headers));
        return found.isAnonymous() ? null : found;
      } catch (IOException e) {
        return null; // this is no machine of Amazon's, it has no role, or its service is busy
      }
    }

    private AwsCredentials ofWebIdentity() throws IOException {
      String token = Files.readString(Path.of(variable("AWS_WEB_IDENTITY_TOKEN_FILE"))).strip();
      String query =
          "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleSessionName=nereid&RoleArn="
              + Dialect.encode(variable("AWS_ROLE_ARN"))
              + "&WebIdentityToken="
              + Dialect.encode(token);
      String usual = "https://sts." + region() + ".amazonaws.com";
      URI where =
          URI.create(environment.getOrDefault("AWS_ENDPOINT_URL_STS", usual) + "/?" + query);
      String answer = http.send("POST", where, Map.of(), "");
      Map<String, String> values = new HashMap<>();
      Matcher elements = ELEMENT.matcher(answer);
      while (elements.find()) {
        values.put(elements.group(1), elements.group(2));
      }
      if (!values.keySet().containsAll(List.of("AccessKeyId", "SecretAccessKey", "Expiration"))) {
        throw new IOException("expected a key in the answer of Amazon's token service");
      }
      return of(values, "AccessKeyId", "SecretAccessKey", "SessionToken");
    }

    private static AwsCredentials ofJson(String text) throws IOException {
      return of(SmallJson.strings(text), "AccessKeyId", "SecretAccessKey", "Token");
    }

    private String variable(String name) {
      return environment.getOrDefault(name, "");
    }

    /** The settings of the chosen profile in Amazon's file of this name. */
    private Map<String, String> profile(String name) throws IOException {
      String variable = name.equals("config") ? "AWS_CONFIG_FILE" : "AWS_SHARED_CREDENTIALS_FILE";
      Path file =
          Path.of(
              environment.getOrDefault(
                  variable, environment.getOrDefault("HOME", "") + "/.aws/" + name));
      String wanted =
          given.getOrDefault("profile", "").isEmpty()
              ? environment.getOrDefault("AWS_PROFILE", "default")
              : given.get("profile");
      Map<String, String> settings = new HashMap<>();
      boolean inside = false;
      for (String line : Files.isRegularFile(file) ? Files.readAllLines(file) : List.<String>of()) {
        if (line.startsWith("[")) {
          inside = line.replaceAll("[\\[\\]]|^\\[profile ", "").strip().equals(wanted);
        } else if (inside && line.contains("=")) {
          int equal = line.indexOf('=');
          settings.put(line.substring(0, equal).strip(), line.substring(equal + 1).strip());
        }
      }
      return settings;
    }
  }
}
