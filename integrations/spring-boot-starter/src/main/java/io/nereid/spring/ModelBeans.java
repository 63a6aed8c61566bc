package io.nereid.spring;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Makes a bean {@code nereid.model.NAME} of each model, with the model's name as its qualifier, and
 * as an alias if no bean of the application has it. The bean is the highest version at the time of
 * the first use; code that follows new versions asks the {@link Nereid} each time.
 */
final class ModelBeans
    implements ImportBeanDefinitionRegistrar, EnvironmentAware, BeanFactoryAware {

  private static final String PREFIX = "nereid.model.";

  private Environment environment;
  private BeanFactory beans;

  @Override
  public void setEnvironment(Environment environment) {
    this.environment = environment;
  }

  @Override
  public void setBeanFactory(BeanFactory beans) {
    this.beans = beans;
  }

  @Override
  public void registerBeanDefinitions(
      AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
    NereidProperties properties =
        Binder.get(environment).bindOrCreate("nereid", NereidProperties.class);
    Set<String> names = new TreeSet<>(properties.models().keySet());
    properties.repository().forEach(repository -> addNames(repository, names));
    for (String name : names) {
      registry.registerBeanDefinition(PREFIX + name, definition(name));
      if (!registry.isBeanNameInUse(name)) {
        registry.registerAlias(PREFIX + name, name);
      }
    }
  }

  /**
   * The definition of a model's bean, without a destroy method, since the {@link Nereid} unloads
   * models.
   */
  private RootBeanDefinition definition(String name) {
    RootBeanDefinition definition = new RootBeanDefinition(Model.class);
    definition.setInstanceSupplier(() -> beans.getBean(Nereid.class).model(name));
    definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, name));
    definition.setLazyInit(true);
    definition.setDestroyMethodName("");
    return definition;
  }

  private static void addNames(Path repository, Set<String> names) {
    if (ModelFile.isAt(repository)) {
      names.add(ModelFile.nameAt(repository));
    } else if (Files.isDirectory(repository)) {
      try (Stream<Path> places = Files.list(repository)) {
        places
            .filter(place -> Files.isDirectory(place) || ModelFile.isAt(place))
            .map(ModelFile::nameAt)
            .filter(name -> !name.startsWith("."))
            .forEach(names::add);
      } catch (IOException e) {
        throw new UncheckedIOException("the model repository " + repository, e);
      }
    }
  }
}
