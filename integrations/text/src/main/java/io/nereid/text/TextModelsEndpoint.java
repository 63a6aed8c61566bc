package io.nereid.text;

import io.nereid.JsonEndpoint;
import io.nereid.Model;
import io.nereid.model.ModelState;
import java.io.OutputStream;
import tools.jackson.core.JsonGenerator;

/** The endpoint of OpenAI's clients that lists the models that embed or rank texts. */
public final class TextModelsEndpoint implements JsonEndpoint {

  /** Called by the service loader. */
  public TextModelsEndpoint() {}

  @Override
  public String path() {
    return "/v1/models";
  }

  @Override
  public boolean infers() {
    return false;
  }

  @Override
  public String description() {
    return """
    {"summary":"The models that embed texts or rank them",
     "responses":{"200":{"description":"Their names",
       "content":{"application/json":{"schema":{"type":"object","properties":{
         "object":{"type":"string"},"data":{"type":"array","items":{"type":"object"}}}}}}},
       "default":{"description":"Why not"}}}
    """;
  }

  @Override
  public void answer(Call call, OutputStream reply) {
    try (JsonGenerator json = EndpointJson.writer(reply)) {
      json.writeStartObject().writeStringProperty("object", "list");
      json.writeName("data").writeStartArray();
      call.models().stream()
          .filter(model -> model.state() == ModelState.READY)
          .filter(model -> EndpointJson.embeds(model.spec()) || EndpointJson.ranks(model.spec()))
          .map(Model::name)
          .distinct()
          .forEach(name -> {
            json.writeStartObject().writeStringProperty("id", name);
            json.writeStringProperty("object", "model").writeNumberProperty("created", 0);
            json.writeStringProperty("owned_by", "nereid").writeEndObject();
          });
      json.writeEndArray().writeEndObject();
    }
  }

  @Override
  public void fail(int status, String message, Throwable cause, OutputStream reply) {
    EndpointJson.fail(status, message, cause, reply);
  }
}
