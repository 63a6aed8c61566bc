package io.nereid.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.loader.tools.Libraries;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/**
 * The application as one jar with all libraries inside, made by what Spring Boot's Maven plugin
 * makes it with: the native libraries and a model come out of jars in a jar.
 */
class FatJarTest {

  private static final Path MODEL = Path.of("..", "..", "native/test/models/identity_fp32.onnx");

  @TempDir private Path directory;

  @Test
  void itRunsByItself() throws Exception {
    Path application = directory.resolve("application.jar");
    try (JarOutputStream out = open(application)) {
      String name = EchoApplication.class.getName().replace('.', '/') + ".class";
      out.putNextEntry(new JarEntry(name));
      try (var in = EchoApplication.class.getClassLoader().getResourceAsStream(name)) {
        in.transferTo(out);
      }
      out.closeEntry();
      for (String model : List.of("echo.onnx", "other.onnx")) {
        out.putNextEntry(new JarEntry(model));
        Files.copy(MODEL, out);
        out.closeEntry();
      }
    }
    Repackager repackager = new Repackager(application.toFile());
    repackager.setBackupSource(false);
    repackager.setMainClass(EchoApplication.class.getName());
    Path fat = directory.resolve("fat.jar");
    repackager.repackage(fat.toFile(), libraries());

    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                fat.toString(),
                "once",
                "--spring.main.web-application-type=none",
                "--nereid.models.echo=classpath:echo.onnx",
                "--nereid.models.other=classpath:other.onnx")
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int exit = process.waitFor();
    String said = Files.readString(output);
    assertEquals(0, exit, said);
    assertTrue(said.contains("echo 2.5 and other"), said);
    assertTrue(!said.contains("WARNING: A restricted method"), said);
  }

  /** The manifest allows native access, so that nobody has to say it on the command line. */
  private static JarOutputStream open(Path jar) throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
    return new JarOutputStream(Files.newOutputStream(jar), manifest);
  }

  /** What the test has on its class path, but for what only tests need; directories become jars. */
  private Libraries libraries() throws IOException {
    List<Path> places =
        Stream.of(System.getProperty("java.class.path").split(":"))
            .map(Path::of)
            .filter(Files::exists)
            .filter(path -> !path.endsWith("test-classes"))
            .filter(path -> !path.toString().matches(".*(junit|loader-tools|surefire).*"))
            .distinct()
            .toList();
    Path jars = Files.createDirectory(directory.resolve("jars"));
    return callback -> {
      for (int i = 0; i < places.size(); i++) {
        Path jar = places.get(i);
        if (Files.isDirectory(jar)) {
          jar = pack(jar, jars.resolve("module" + i + ".jar"));
        }
        callback.library(
            new Library(
                i + "-" + jar.getFileName(),
                jar.toFile(),
                LibraryScope.RUNTIME,
                null,
                false,
                false,
                true));
      }
    };
  }

  private static Path pack(Path classes, Path jar) throws IOException {
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file);
        Stream<Path> paths = Files.walk(classes)) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(path).toString()));
        Files.copy(path, out);
        out.closeEntry();
      }
    }
    return jar;
  }
}
