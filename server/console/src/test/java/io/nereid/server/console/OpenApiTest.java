package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.HttpOptions;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** The OpenAPI descriptions, as a parser that generators use reads them. */
class OpenApiTest {

  @TempDir static Path models;
  private static NereidServer server;
  private static ConsoleClient client;

  @BeforeAll
  static void start() throws IOException {
    ConsoleModels.copyBundled(models);
    ConsoleModels.row(models, "halves", "VALUES", "FP16", "");
    for (String name : ConsoleModels.HOSTILE) {
      ConsoleModels.echo(models, name);
    }
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(
                    RepositoryOptions.builder().repository(models).explicit("*").build())
                .withAllowClientShm(true)
                .withExitOnError(false)
                .withHttp(HttpOptions.DEFAULT.withConsole(ConsoleOptions.DEFAULT)));
    client = new ConsoleClient(server, Optional.empty());
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  private static OpenAPI parsed(String text) {
    ParseOptions options = new ParseOptions();
    options.setResolve(true);
    SwaggerParseResult result = new OpenAPIV3Parser().readContents(text, null, options);
    assertEquals(List.of(), result.getMessages(), text);
    return result.getOpenAPI();
  }

  private static String segment(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Test
  void theParserFindsMistakes() throws Exception {
    String text = client.get("openapi.json");
    for (String[] mistake :
        new String[][] {
          {"\"description\":\"It worked\",", ""},
          {"\"in\":\"path\"", "\"in\":\"nowhere\""},
          {"\"summary\":\"Run a model\"", "\"sumary\":\"Run a model\""}
        }) {
      String wrong = text.replace(mistake[0], mistake[1]);
      assertTrue(!wrong.equals(text), mistake[0]);
      assertTrue(
          !new OpenAPIV3Parser().readContents(wrong, null, null).getMessages().isEmpty(),
          mistake[0]);
    }
  }

  @Test
  void theProtocol() throws Exception {
    OpenAPI api = parsed(client.get("openapi.json"));
    assertTrue(api.getPaths().containsKey("/v2/models/{model}/infer"));
    assertTrue(api.getPaths().containsKey("/v2/systemsharedmemory/region/{region}/register"));
  }

  /** Examples of the body of a POST, in the schema itself or in the one that it refers to. */
  private static List<?> examples(Map<?, ?> document, Map<?, ?> post) {
    Map<?, ?> schema = in(post, "requestBody", "content", "application/json", "schema");
    if (schema.containsKey("$ref")) {
      schema = in(document, "components", "schemas", "InferRequest");
    }
    return schema.get("examples") instanceof List<?> examples ? examples : List.of();
  }

  private static Map<?, ?> in(Map<?, ?> document, String... path) {
    Map<?, ?> there = document;
    for (String name : path) {
      there = (Map<?, ?>) there.get(name);
    }
    return there;
  }

  @Test
  void eachModelAndItsExamplesAreAnswered() throws Exception {
    TreeSet<String> without = new TreeSet<>();
    for (Object name : (List<?>) JSON.std.mapFrom(client.get("v2/models")).get("models")) {
      String model = (String) name;
      String text = client.get("openapi/" + segment(model) + ".json");
      assertEquals(model, parsed(text).getInfo().getTitle());
      Map<String, Object> document = JSON.std.mapFrom(text);
      for (Map.Entry<?, ?> path : in(document, "paths").entrySet()) {
        Map<?, ?> post = in((Map<?, ?>) path.getValue(), "post");
        List<?> examples = post == null ? List.of() : examples(document, post);
        if (post != null && examples.isEmpty()) {
          without.add(model);
        }
        for (Object example : examples) {
          String address = path.getKey().toString().substring(1);
          HttpResponse<String> reply = client.post(address, JSON.std.asString(example));
          // The only one that a model may refuse: it wants to know which sequence it is of.
          assertEquals(model.equals("voice") ? 400 : 200, reply.statusCode(), reply::body);
        }
      }
    }
    assertEquals(List.of("halves"), List.copyOf(without), "JSON has no form of FP16");
  }
}
