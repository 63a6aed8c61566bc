package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sound and text in the form that tries a model, in a real browser; without one it is skipped. */
@Tag("slow")
class TryItTest {

  private static final int RATE = 32_000;

  /** Asks the model about the pixels that the page made of a drawing. */
  private static final String CLASSIFY =
      """
      const data = JSON.parse('[' + document.querySelector('textarea').value + ']');
      const image = {name: 'image', datatype: 'FP32', shape: [1, 8, 8], data};
      fetch('/v2/models/digits/infer', {method: 'POST', body: JSON.stringify({inputs: [image]})})
        .then(reply => reply.json())
        .then(({outputs: [scores]}) => scores.data.indexOf(Math.max(...scores.data)))
        .then(arguments[0]);
      """;

  @TempDir static Path folder;
  private static BrowsedConsole console;
  private static Browser browser;
  private static Path sound;

  @BeforeAll
  static void start() throws IOException {
    Path models = Files.createDirectory(folder.resolve("models"));
    ConsoleModels.copyBundled(models, "voice", "digits");
    ConsoleModels.row(models, "said", "clip", "FP32", "audio;rate=8000");
    ConsoleModels.row(models, "named", "raw_waveform", "INT16", "");
    ConsoleModels.row(models, "words", "prompt", "UINT8", "");
    ConsoleModels.row(models, "signed", "letters", "INT8", "text");
    ConsoleModels.row(models, "numbers", "values", "FP32", "");
    ConsoleModels.picture(models, "detector");
    ConsoleModels.tokens(models, "language");
    console = BrowsedConsole.start(models);
    browser = console.browser();
    sound = Files.write(folder.resolve("sound.wav"), wave());
  }

  @AfterAll
  static void stop() {
    if (console != null) {
      console.close();
    }
  }

  /** Half a second of 200 Hz in two channels, one three times as loud as the other. */
  private static byte[] wave() {
    int frames = RATE / 2;
    ByteBuffer file = ByteBuffer.allocate(44 + 4 * frames).order(ByteOrder.LITTLE_ENDIAN);
    file.put("RIFF".getBytes(StandardCharsets.US_ASCII)).putInt(36 + 4 * frames);
    file.put("WAVEfmt ".getBytes(StandardCharsets.US_ASCII)).putInt(16);
    file.putShort((short) 1).putShort((short) 2).putInt(RATE).putInt(4 * RATE);
    file.putShort((short) 4).putShort((short) 16);
    file.put("data".getBytes(StandardCharsets.US_ASCII)).putInt(4 * frames);
    for (int i = 0; i < frames; i++) {
      double value = Math.sin(2 * Math.PI * 200 * i / RATE) * Short.MAX_VALUE;
      file.putShort((short) Math.round(0.6 * value)).putShort((short) Math.round(0.2 * value));
    }
    return file.array();
  }

  private static void open(String model) {
    browser.open(console.page("#/models/" + model + "/try"));
    browser.awaitText(".code pre", "curl");
  }

  /** The largest of the values that the answer begins with. */
  private static double largest() {
    browser.await("document.querySelector('.values span')");
    return ((Number)
            browser.run(
                "return Math.max(...[...document.querySelectorAll('.values span')].map(e =>"
                    + " Number(e.textContent)))"))
        .doubleValue();
  }

  @ParameterizedTest
  @CsvSource({"said, 4000, 0.4", "named, 8000, 13107"})
  void aSoundBecomesOneChannelAtTheModelsRate(String model, int samples, double loudness) {
    open(model);
    browser.choose("input[type=file]", sound);
    browser.awaitText(".field .soft", "500 ms of 500 ms of sound");
    assertEquals(
        Integer.toString(samples),
        browser.run("return document.querySelector('.field header input').value"));
    browser.await("document.querySelector('svg.wave')");
    browser.click("#send");
    assertEquals(loudness, largest(), 0.03 * loudness);
  }

  private static void awaitShape(String shape) {
    browser.await("document.querySelector('.field header input').value === arguments[0]", shape);
  }

  @Test
  void imageOfAFreeSizeIsMadeInTheSizeThatIsChosen() throws IOException {
    open("detector");
    awaitShape("1, 3, 224, 224");
    BufferedImage red = new BufferedImage(10, 20, BufferedImage.TYPE_INT_RGB);
    for (int i = 0; i < 200; i++) {
      red.setRGB(i % 10, i / 10, 0xff0000);
    }
    Path file = folder.resolve("red.png");
    ImageIO.write(red, "png", file.toFile());
    browser.choose("input[type=file]", file);
    browser.awaitText(".field .soft", "values of an image");
    awaitShape("1, 3, 224, 224");
    browser.run(
        "const height = document.querySelector('.tools input[type=number]'); height.value = '32';"
            + " height.dispatchEvent(new Event('input', {bubbles: true}))");
    awaitShape("1, 3, 32, 224");
    browser.click("#send");
    browser.awaitText(".reply", "[1, 3, 32, 224]");
    browser.run(
        "const shape = document.querySelector('.field header input'); shape.value = '1, 3, 64, 48';"
            + " shape.dispatchEvent(new Event('input', {bubbles: true}))");
    browser.await("document.querySelectorAll('.tools input[type=number]')[1].value === '48'");
    browser.click("#send");
    browser.awaitText(".reply", "[1, 3, 64, 48]");
    assertEquals("", browser.run("return document.querySelector('.problem').textContent"));
  }

  @Test
  void inputsOfLanguageModelsAreSensibleAndOneIsSent() {
    open("language");
    assertEquals(
        "",
        browser.run(
            """
            const numbers = name => document.querySelector(`[data-input=${name}]`).value
              .split(', ').map(Number);
            return [
              numbers('input_ids').some(id => id < 100 || id > 999),
              numbers('attention_mask').some(mask => mask !== 1),
              numbers('token_type_ids').some(type => type !== 0),
            ].join().replaceAll(/false|,/g, '');
            """));
    browser.click("#send");
    browser.awaitText(".reply h3", "same");
  }

  @Test
  void plainDigitsOfAnySizeAreRecognised() {
    open("digits");
    List<String> wrong = new ArrayList<>();
    for (double side : new double[] {0.3, 0.6, 0.9}) {
      for (Drawings.Digit digit : Drawings.PLAIN) {
        browser.run(
            "[...document.querySelectorAll('button')].find(b => b.textContent === 'Wipe').click()");
        digit.draw(browser, 0.05, side);
        long seen = ((Number) browser.runAsync(CLASSIFY)).longValue();
        if (seen != digit.value()) {
          wrong.add(digit.value() + " of size " + side + " is taken for " + seen);
        }
      }
    }
    assertTrue(wrong.size() <= 1, wrong::toString);
  }

  @Test
  void aSoundIsDroppedAndAPartOfItFits() {
    open("voice");
    browser.run(
        """
        const bytes = Uint8Array.from(atob(arguments[0]), each => each.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], 'a.wav', {type: 'audio/wav'}));
        document.querySelector('.field').dispatchEvent(new DragEvent('drop', {dataTransfer: data}));
        """,
        Base64.getEncoder().encodeToString(wave()));
    browser.awaitText(".field .soft", "20 ms of 500 ms of sound");
    browser.click("#send");
    browser.awaitText(".reply h3", "SPEECH");
  }

  @Test
  void whatIsNoSoundIsSaidToBeNone() throws IOException {
    open("said");
    Path broken = Files.writeString(folder.resolve("broken.wav"), "no sound");
    browser.choose("input[type=file]", broken);
    browser.awaitText(".problem", "broken.wav: ");
  }

  @ParameterizedTest
  @CsvSource({"words, '75 195 164 115 101'", "signed, '75 -61 -92 115 101'"})
  void textBecomesItsBytes(String model, String bytes) {
    open(model);
    browser.type("textarea", "K\u00e4se");
    browser.click("#send");
    browser.await(
        "[...document.querySelectorAll('.values span')].map(e => e.textContent).join(' ') ==="
            + " arguments[0]",
        bytes);
  }

  @Test
  void otherInputsAreNumbers() {
    open("numbers");
    assertEquals(false, browser.run("return document.body.textContent.includes('A tone')"));
    ByteArrayOutputStream three = new ByteArrayOutputStream();
    for (float value : new float[] {1, 2, 3}) {
      three.writeBytes(
          ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array());
    }
    try {
      browser.choose(
          "input[type=file]", Files.write(folder.resolve("three.raw"), three.toByteArray()));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    browser.awaitText(".field .soft", "three.raw, 12 B");
    browser.click("#send");
    assertEquals(3, largest());
    assertTrue(browser.text(".code pre").contains("request.bin"));
  }
}
