package com.example.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Makes the driver's session, whose executors score; {@code spark-submit} takes the same settings.
 */
final class Cluster {

  /** The columns of scored images. */
  static final StructType SCORED =
      new StructType()
          .add("id", DataTypes.LongType, false)
          .add("digit", DataTypes.IntegerType, false);

  private Cluster() {}

  /**
   * Connects to a cluster.
   *
   * @param jars this example, Nereid and its dependencies, without Spark
   * @param models an archive of a model repository
   * @param reports the directory for the executors' reports about their runtimes
   */
  static SparkSession open(String master, List<Path> jars, Path models, Path reports) {
    return SparkSession.builder()
        .master(master)
        .appName("nereid")
        .config("spark.jars", jars.stream().map(Path::toString).collect(Collectors.joining(",")))
        .config("spark.archives", models + "#models")
        .config("spark.plugins", NereidPlugin.class.getName())
        .config(NereidPlugin.REPOSITORY, "models")
        .config(NereidPlugin.REPORTS, reports.toString())
        .config("spark.executor.extraJavaOptions", "--enable-native-access=ALL-UNNAMED")
        .config("spark.sql.columnVector.offheap.enabled", "true")
        .config("spark.ui.enabled", "false")
        .getOrCreate();
  }

  /** Packs a model repository into an archive that executors unpack. */
  static Path archive(Path repository, Path archive) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive));
        Stream<Path> files = Files.walk(repository)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        zip.putNextEntry(new ZipEntry(repository.relativize(file).toString()));
        Files.copy(file, zip);
        zip.closeEntry();
      }
    }
    return archive;
  }
}
