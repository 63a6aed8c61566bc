package io.nereid.spring;

import io.nereid.Model;
import io.nereid.tensor.Tensor;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** An application such as one writes with the starter; it also runs from a jar of its own. */
@SpringBootApplication
@RestController
public class EchoApplication {

  private final Model echo;
  private final Model other;

  EchoApplication(@Qualifier("echo") Model echo, @Qualifier("other") Model other) {
    this.echo = echo;
    this.other = other;
  }

  public static void main(String[] arguments) {
    SpringApplication.run(EchoApplication.class, arguments);
  }

  @GetMapping("/echo/{value}")
  float echo(@PathVariable("value") float value) {
    try (var request =
            echo.newRequest().input("INPUT0", Tensor.ofFloats(new float[] {value}, 1, 1));
        var response = request.infer()) {
      return response.output("OUTPUT0").floatAt(0);
    }
  }

  /** Tells the test of the fat jar that all is there, and ends it. */
  @Bean
  CommandLineRunner once() {
    return arguments -> {
      if (arguments.length > 0 && arguments[0].equals("once")) {
        System.out.println("echo " + echo(2.5f) + " and " + other.name());
      }
    };
  }
}
