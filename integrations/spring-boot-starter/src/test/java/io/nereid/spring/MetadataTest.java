package io.nereid.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/** The metadata for editors matches the properties that exist. */
class MetadataTest {

  @Test
  void everyPropertyIsDescribed() throws Exception {
    String json;
    try (var in =
        NereidProperties.class
            .getClassLoader()
            .getResourceAsStream("META-INF/spring-configuration-metadata.json")) {
      assertNotNull(in);
      json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    Set<String> described = new TreeSet<>();
    Pattern.compile("\"name\": \"(nereid\\.[^\"]+)\"")
        .matcher(json)
        .results()
        .forEach(found -> described.add(found.group(1)));
    Set<String> there = new TreeSet<>();
    addNames("nereid.", NereidProperties.class, there);
    addNames("nereid.embedding.", NereidEmbeddingProperties.class, there);
    assertEquals(there, described);
  }

  private static void addNames(String prefix, Class<?> properties, Set<String> there) {
    Arrays.stream(properties.getRecordComponents())
        .map(component -> component.getName().replaceAll("([A-Z])", "-$1").toLowerCase())
        .forEach(name -> there.add(ConfigurationPropertyName.of(prefix + name).toString()));
  }
}
