package io.nereid.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.nereid.Nereid;
import io.nereid.micrometer.NereidMetrics;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Health, metrics and an endpoint of the {@link Nereid}, if the application has the actuator. */
@AutoConfiguration(after = NereidAutoConfiguration.class)
@ConditionalOnBean(Nereid.class)
final class NereidActuatorAutoConfiguration {

  /** Called by Spring. */
  public NereidActuatorAutoConfiguration() {}

  /** The meters, which Spring Boot binds to the registries of the application. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({MeterRegistry.class, NereidMetrics.class})
  static class Metrics {
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    NereidMetrics nereidMetrics(Nereid nereid) {
      return new NereidMetrics(nereid);
    }
  }

  /** Adds the health indicator, which is up if no model has failed. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  static class Health {
    @Bean
    @ConditionalOnEnabledHealthIndicator("nereid")
    @ConditionalOnMissingBean(name = "nereidHealthIndicator")
    HealthIndicator nereidHealthIndicator(Nereid nereid) {
      return new NereidHealthIndicator(nereid);
    }
  }

  /** The endpoint {@code nereid}. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
  static class Endpoints {
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint
    NereidEndpoint nereidEndpoint(Nereid nereid) {
      return new NereidEndpoint(nereid);
    }
  }
}
