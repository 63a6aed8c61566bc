package com.example.flink;

import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/** A job that tells which digits images show: lines of pixels in, lines of digits out. */
public final class ScoreDigits {

  static final int PIXELS = 64;

  /** An image with its number. */
  static final TypeInformation<Row> IMAGE =
      Types.ROW_NAMED(
          new String[] {"id", "image"}, Types.LONG, Types.OBJECT_ARRAY(Types.FLOAT));

  private ScoreDigits() {}

  /** Takes where the model is (a repository, or a server's URL), a file of images, a directory. */
  public static void main(String[] args) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment.enableCheckpointing(1000);
    DataStream<Row> images =
        environment
            .fromSource(
                FileSource.forRecordStreamFormat(
                        new TextLineInputFormat(), new org.apache.flink.core.fs.Path(args[1]))
                    .build(),
                WatermarkStrategy.noWatermarks(),
                "images")
            .map(line -> image(0, line), IMAGE);
    write(score(environment, images, nereid(args[0])), Path.of(args[2]));
    environment.execute("digits");
  }

  /** The options of a model in a repository that the job executes itself, or on a server. */
  static String nereid(String place) {
    String where = place.matches("(grpc|http)s?://.*") ? "url" : "repository";
    return "'provider' = 'nereid', 'model' = 'digits', '" + where + "' = '" + place + "'";
  }

  /** Adds the scores of the digits to images. */
  static DataStream<Row> score(
      StreamExecutionEnvironment environment, DataStream<Row> images, String model) {
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.createTemporaryView("images", images);
    tables.executeSql(
        "CREATE TEMPORARY MODEL digits INPUT (image ARRAY<FLOAT>) OUTPUT (scores ARRAY<FLOAT>)"
            + " WITH ("
            + model
            + ")");
    return tables.toDataStream(
        tables.sqlQuery(
            "SELECT id, scores FROM ML_PREDICT(TABLE images, MODEL digits, DESCRIPTOR(image),"
                + " MAP['async', 'true'])"));
  }

  /** Writes "NUMBER DIGIT" lines into files that are whole once a checkpoint has seen them. */
  static void write(DataStream<Row> scored, Path directory) {
    scored
        .map(row -> row.getField("id") + " " + best((Float[]) row.getField("scores")), Types.STRING)
        .sinkTo(
            FileSink.forRowFormat(
                    new org.apache.flink.core.fs.Path(directory.toUri()),
                    new SimpleStringEncoder<String>())
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build());
  }

  /** A line of the file: the digit, and then the pixels. */
  static Row image(long id, String line) {
    String[] values = line.split(",");
    Float[] pixels = new Float[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
      pixels[i] = Float.valueOf(values[1 + i]);
    }
    return Row.of(id, pixels);
  }

  static int best(Float[] scores) {
    int best = 0;
    for (int i = 1; i < scores.length; i++) {
      if (scores[i] > scores[best]) {
        best = i;
      }
    }
    return best;
  }
}
