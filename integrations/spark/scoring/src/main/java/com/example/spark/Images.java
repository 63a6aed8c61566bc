package com.example.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Writes the bundled images, repeatedly, into Parquet files, and reads them. */
final class Images {

  private Images() {}

  /** The pixels of each image of a file of lines LABEL,PIXEL,PIXEL,... */
  static List<float[]> read(Path csv) throws IOException {
    List<float[]> images = new ArrayList<>();
    for (String line : Files.readAllLines(csv)) {
      String[] fields = line.split(",");
      float[] pixels = new float[fields.length - 1];
      for (int i = 0; i < pixels.length; i++) {
        pixels[i] = Float.parseFloat(fields[i + 1]);
      }
      images.add(pixels);
    }
    return images;
  }

  /**
   * Writes columns (id, pixels): the image at position {@code id % images.size()}.
   *
   * @param dictionary whether Parquet may use a dictionary of distinct values, which is smaller for
   *     such images but makes readers copy
   */
  static void write(
      SparkSession spark, List<float[]> images, int times, int files, boolean dictionary, Path to) {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < images.size(); i++) {
      rows.add(RowFactory.create((long) i, images.get(i)));
    }
    StructType schema =
        new StructType()
            .add("position", DataTypes.LongType, false)
            .add("pixels", DataTypes.createArrayType(DataTypes.FloatType, false), false);
    spark
        .range(0, times, 1, files)
        .crossJoin(spark.createDataFrame(rows, schema))
        .select(
            col("position").plus(col("id").multiply(lit((long) images.size()))).as("id"),
            col("pixels"))
        .write()
        .option("parquet.enable.dictionary", dictionary)
        .parquet(to.toString());
  }

  /** Reads the images that were written. */
  static Dataset<Row> load(SparkSession spark, Path from) {
    return spark.read().parquet(from.toString()).select("id", "pixels");
  }
}
