package io.nereid.flink;

import java.io.Serializable;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;

/**
 * The options of a model in {@code WITH (...)}. Tasks get a copy with their function.
 *
 * @param model the name of the model
 * @param version of the model; {@code latest} leaves the choice to the server
 * @param url of the server that executes the model; null if the task's own JVM does
 * @param repository the directory or URL whose models the task's own JVM executes; null if a server
 *     does
 * @param timeout the time that a request may take
 * @param retries how often a request that the server refused is repeated
 * @param skipsFailures whether a row whose request fails has no prediction, or fails the job
 * @param token of the server; null: none
 * @param tlsCa a file with certificates for checking the server's; null: the JVM's
 */
record ProviderOptions(
    String model,
    String version,
    String url,
    String repository,
    Duration timeout,
    int retries,
    boolean skipsFailures,
    HashMap<String, String> headers,
    String token,
    String tlsCa)
    implements Serializable {

  static final String LATEST = "latest";

  static final ConfigOption<String> MODEL = text("model").noDefaultValue();
  private static final ConfigOption<String> VERSION = text("version").defaultValue(LATEST);
  private static final ConfigOption<String> URL = text("url").noDefaultValue();
  private static final ConfigOption<String> REPOSITORY = text("repository").noDefaultValue();
  private static final ConfigOption<Duration> TIMEOUT =
      ConfigOptions.key("timeout").durationType().defaultValue(Duration.ofSeconds(30));
  private static final ConfigOption<Integer> RETRIES =
      ConfigOptions.key("retries").intType().defaultValue(2);
  private static final ConfigOption<String> ON_ERROR = text("on-error").defaultValue("fail");
  private static final ConfigOption<Map<String, String>> HEADERS =
      ConfigOptions.key("headers").mapType().defaultValue(Map.of());
  private static final ConfigOption<String> TOKEN = text("token").noDefaultValue();
  private static final ConfigOption<String> TLS_CA = text("tls-ca").noDefaultValue();

  static final Set<ConfigOption<?>> OPTIONAL =
      Set.of(VERSION, URL, REPOSITORY, TIMEOUT, RETRIES, ON_ERROR, HEADERS, TOKEN, TLS_CA);

  private static ConfigOptions.TypedConfigOptionBuilder<String> text(String key) {
    return ConfigOptions.key(key).stringType();
  }

  static ProviderOptions of(ReadableConfig config) {
    String url = config.get(URL);
    String repository = config.get(REPOSITORY);
    if ((url == null) == (repository == null)) {
      throw new ValidationException(
          "expected either 'url', a server that executes the model, or 'repository', whose models"
              + " the TaskManagers execute; got "
              + (url == null ? "neither" : "both"));
    }
    String onError = config.get(ON_ERROR);
    if (!onError.equals("fail") && !onError.equals("skip")) {
      throw new ValidationException(
          "expected 'on-error' to be 'fail' or 'skip', got '" + onError + "'");
    }
    String ofServers =
        Stream.of(HEADERS, TOKEN, TLS_CA)
            .filter(option -> config.getOptional(option).isPresent())
            .map(ConfigOption::key)
            .collect(Collectors.joining("', '"));
    if (url == null && !ofServers.isEmpty()) {
      throw new ValidationException(
          "expected '" + ofServers + "' beside 'url' alone, got it beside 'repository'");
    }
    if (config.get(RETRIES) < 0) {
      throw new ValidationException("expected 'retries' of at least 0, got " + config.get(RETRIES));
    }
    return new ProviderOptions(
        config.get(MODEL),
        config.get(VERSION),
        url,
        repository,
        config.get(TIMEOUT),
        config.get(RETRIES),
        onError.equals("skip"),
        new HashMap<>(config.get(HEADERS)),
        config.get(TOKEN),
        config.get(TLS_CA));
  }

  boolean isLatest() {
    return version.equals(LATEST);
  }
}
