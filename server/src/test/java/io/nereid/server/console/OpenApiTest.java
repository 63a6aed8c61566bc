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
import java.net.http.HttpResponse;
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
    return java.net.URLEncoder.encode(name, java.nio.charset.StandardCharsets.UTF_8)
        .replace("+", "%20");
  }

  @Test
  void theParserFindsMistakes() throws Exception {
    String text = client.get("openapi.json");
    for (String[] mistake :
        new String[][] {
          {"\"description\":\"Why not\",", ""},
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

  @Test
  void eachModelAndItsExampleIsAnswered() throws Exception {
    TreeSet<String> served = new TreeSet<>();
    for (Object name : (List<?>) JSON.std.mapFrom(client.get("v2/models")).get("models")) {
      String model = (String) name;
      OpenAPI api = parsed(client.get("openapi/" + segment(model) + ".json"));
      assertEquals(model, api.getInfo().getTitle());
      served.add(model);
      for (Map.Entry<String, io.swagger.v3.oas.models.PathItem> path : api.getPaths().entrySet()) {
        if (path.getValue().getPost() == null) {
          continue;
        }
        Object example =
            path.getValue()
                .getPost()
                .getRequestBody()
                .getContent()
                .get("application/json")
                .getExample();
        if (example != null) {
          HttpResponse<String> reply = client.post(path.getKey().substring(1), example.toString());
          // The only one that a model may refuse: it wants to know which sequence it is of.
          assertEquals(model.equals("voice") ? 400 : 200, reply.statusCode(), reply::body);
          served.remove(model);
        }
      }
    }
    assertEquals(List.of("halves"), List.copyOf(served), "JSON has no form of FP16");
  }
}
