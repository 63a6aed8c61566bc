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
    ConsoleModels.copyBundled(models, "voice", "digits", "simple");
    ConsoleModels.row(models, "said", "clip", "FP32", "audio;rate=8000");
    ConsoleModels.row(models, "named", "raw_waveform", "INT16", "");
    ConsoleModels.row(models, "words", "prompt", "UINT8", "");
    ConsoleModels.row(models, "signed", "letters", "INT8", "text");
    ConsoleModels.row(models, "numbers", "values", "FP32", "");
    ConsoleModels.picture(models, "detector");
    ConsoleModels.tokens(models, "language");
    ConsoleModels.finder(models, "finder", false);
    ConsoleModels.finder(models, "cutter", true);
    ConsoleModels.minilm(models);
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

  /** Chooses a red picture of 10 by 20 for the first input, and waits for a note. */
  private static void chooseRed(String note) throws IOException {
    BufferedImage red = new BufferedImage(10, 20, BufferedImage.TYPE_INT_RGB);
    for (int i = 0; i < 200; i++) {
      red.setRGB(i % 10, i / 10, 0xff0000);
    }
    Path file = folder.resolve("red.png");
    ImageIO.write(red, "png", file.toFile());
    browser.choose("input[type=file]", file);
    browser.awaitText(".field .soft", note);
  }

  /** Waits for an answer: choosing a picture sends one with what the other inputs began with. */
  private static void awaitFound(String words) {
    browser.await(
        "[...document.querySelectorAll('.found li')].map(e => e.textContent).join() ==="
            + " arguments[0]",
        words);
  }

  /** The red of the picture with what was found, at a point of the model's 224 by 224. */
  private static long redAt(int x, int y) {
    return ((Number)
            browser.run(
                "const canvas = document.querySelector('.found canvas'); return"
                    + " canvas.getContext('2d').getImageData(arguments[0] * canvas.width / 224,"
                    + " arguments[1] * canvas.height / 224, 1, 1).data[0]",
                x,
                y))
        .longValue();
  }

  @Test
  void boxesAreDrawnOverThePicture() throws IOException {
    open("finder");
    chooseRed("values of an image");
    browser.type("[data-input=places]", "10 20 110 120  12 22 112 118  150 150 200 200  0 0 9 9");
    browser.type("[data-input=sure]", "0.9 0.8 0.6 0.1");
    browser.type("[data-input=kinds]", "1 1 0 0");
    browser.click("#send");
    awaitFound("class 1 90 %,class 0 60 %");
    assertEquals(255, redAt(60, 60));
    assertTrue(redAt(110, 60) < 200, "the right side of the first box");
    assertTrue(redAt(150, 180) < 200, "the left side of the second box");
  }

  @Test
  void masksAreLaidOverThePicture() throws IOException {
    open("cutter");
    chooseRed("values of an image");
    browser.type("[data-input=mask]", "0 ".repeat(32) + "2 ".repeat(32));
    browser.click("#send");
    awaitFound("class 2 50 % of the picture");
    assertEquals(255, redAt(100, 50));
    assertTrue(redAt(100, 150) < 250, "the lower half");
  }

  @Test
  void firstFiveClassesStandBelowThePicture() throws IOException {
    open("digits");
    BufferedImage white = new BufferedImage(10, 20, BufferedImage.TYPE_BYTE_GRAY);
    Path file = folder.resolve("black.png");
    ImageIO.write(white, "png", file.toFile());
    browser.choose("input[type=file]", file);
    browser.await("document.querySelectorAll('.found li').length === 5");
  }

  @Test
  void anExampleIsSentAndGoesIntoALink() {
    open("digits");
    browser.run(
        "[...document.querySelectorAll('.examples button')].find(b => b.textContent ==="
            + " 'a seven').click()");
    browser.await("document.querySelector('.verdict')?.textContent === 'seven'");
    browser.run(
        "[...document.querySelectorAll('[role=tab]')].find(b => b.textContent ==="
            + " 'Link').click()");
    String link = browser.text(".code pre");
    assertTrue(link.contains("#/models/digits/try/"), link);
    browser.open(link);
    browser.click("#send");
    browser.await("document.querySelector('.verdict')?.textContent === 'seven'");
  }

  @Test
  void examplesThatAreNoListAreSaidToBeNone() throws IOException {
    Path file = folder.resolve("models/simple/examples.json");
    Files.writeString(file, "{\"inputs\": 1}");
    open("simple");
    browser.awaitText(".wrong", "examples.json: expected a list");
  }

  @Test
  void imageOfAFreeSizeIsMadeInTheSizeThatIsChosen() throws IOException {
    open("detector");
    awaitShape("1, 3, 224, 224");
    chooseRed("values of an image");
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

  /** More texts than the model's batches have room for. */
  @Test
  void sentencesStandInTheOrderOfTheirNearness() {
    open("minilm");
    browser.type("#near-text", "a dog");
    browser.type(
        "#near-sentences", "Revenue rose.\na puppy\n\nThe cat sleeps.\na dog\nA dog barks.");
    browser.click("#compare");
    browser.await("document.querySelectorAll('.near li').length === 5");
    assertEquals(
        "a dog,a puppy,A dog barks.,The cat sleeps.,Revenue rose.",
        browser.run(
            "return [...document.querySelectorAll('.near bdi')].map(e => e.textContent).join()"));
    assertEquals("1.00", browser.text(".near .num"));
    open("simple");
    assertEquals(false, browser.run("return document.querySelector('.near') !== null"));
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
  void filesWithoutSoundAreRefused() throws IOException {
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
